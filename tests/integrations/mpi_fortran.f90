! A program of MPI in Fortran: its types are other handles than those of C. It knows nothing of ringfold.
program mpi_fortran
  use mpi
  implicit none
  integer :: error, rank, ranks, request, k, faults
  integer :: status(MPI_STATUS_SIZE)
  integer :: whole(100), sums(100)
  real :: single(100)
  double precision :: double(100), total(100)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  faults = 0
  do k = 1, 100
    whole(k) = k + rank
    single(k) = real(k * (rank + 1))
    double(k) = dble(k + 10 * rank)
  end do
  call MPI_Allreduce(whole, sums, 100, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call MPI_Allreduce(MPI_IN_PLACE, single, 100, MPI_REAL, MPI_MAX, MPI_COMM_WORLD, error)
  call MPI_Iallreduce(double, total, 100, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, request, error)
  call MPI_Wait(request, status, error)
  do k = 1, 100
    if (sums(k) /= ranks * k + ranks * (ranks - 1) / 2) faults = faults + 1
    if (single(k) /= real(k * ranks)) faults = faults + 1
    if (total(k) /= dble(ranks * k + 5 * ranks * (ranks - 1))) faults = faults + 1
  end do
  call MPI_Reduce(whole, sums, 100, MPI_INTEGER, MPI_MIN, 0, MPI_COMM_WORLD, error)
  if (rank == 0) then
    do k = 1, 100
      if (sums(k) /= k) faults = faults + 1
    end do
  end if
  call MPI_Bcast(double, 100, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, error)
  if (double(7) /= 7d0) faults = faults + 1
  call MPI_Barrier(MPI_COMM_WORLD, error)
  print '(a,i0,a,i0,a,i0,a)', 'rank ', rank, ' of ', ranks, ': ', faults, ' faults'
  call MPI_Finalize(error)
end program mpi_fortran
