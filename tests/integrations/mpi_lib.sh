# How each MPI starts a program with its seam: launch=(COMMAND...), before -n. Sourced by bash scripts that have set mpi.
seam=$(cd "${BUILD:-build}/mpi/$mpi" && pwd)
case $mpi in
openmpi)
	components=$(ompi_info --parsable --path pkglibdir | sed "s/^path:pkglibdir://")
	export OMPI_MCA_mca_base_component_path="$components:$seam"
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader
	launch=(mpirun.openmpi --oversubscribe)
	;;
mpich)
	launch=(mpirun.mpich -genv LD_PRELOAD "$seam/libringfold-mpich.so")
	;;
esac
