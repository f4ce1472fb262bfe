#!/bin/sh
# Kernel and root file system of the guests, made from Debian packages by an ordinary user; nothing is installed.
#
#   tests/interop/image.sh FOLDER      makes FOLDER/vmlinuz, FOLDER/base.cpio.gz, FOLDER/kernel.version
#
# The kernel's package (70 MB) is downloaded, once, into FOLDER; RF_KERNEL_DEB names a local copy.
# If something is missing, the exit code is 77 and a line gives the reason.
set -eu
out=$1
mkdir -p "$out"
out=$(cd "$out" && pwd)
here=$(cd "$(dirname "$0")" && pwd)

missing() {
	echo "no image for guests: $*"
	exit 77
}

PATH=$PATH:/usr/sbin:/sbin
[ "$(uname -m)" = x86_64 ] || missing "the guests are x86_64"
for tool in busybox dpkg-deb apt-get modinfo ldd ibv_rc_pingpong ib_send_bw rping rdma; do
	command -v $tool > /dev/null || missing "$tool is not installed (mk/deps.sh test)"
done

deb=${RF_KERNEL_DEB:-$(ls "$out"/linux-image-*.deb 2> /dev/null | head -n 1)}
if [ -z "$deb" ]; then
	package=$(apt-cache depends linux-image-amd64 2> /dev/null | sed -n 's/^ *Depends: \(linux-image-[^ ]*\)$/\1/p' | head -n 1)
	[ -n "$package" ] || missing "apt knows no linux-image-amd64 (apt-get update)"
	(cd "$out" && apt-get -qq download "$package" 2> apt.log) || missing "$package cannot be downloaded: $(tail -n 1 "$out/apt.log")"
	deb=$(ls "$out"/linux-image-*.deb | head -n 1)
fi

work=$(mktemp -d "$out/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
# only the files that are needed are unpacked, because the modules alone are 390 MB
dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$work" --wildcards './boot/vmlinuz-*' './lib/modules/*/kernel/net/*' './lib/modules/*/kernel/fs/configfs/*' \
	'./lib/modules/*/kernel/crypto/*' './lib/modules/*/kernel/lib/*' './lib/modules/*/kernel/arch/x86/crypto/*' \
	'./lib/modules/*/kernel/drivers/virtio/*' './lib/modules/*/kernel/drivers/net/*.ko' './lib/modules/*/kernel/drivers/infiniband/*'
modules=$(echo "$work"/lib/modules/*)

root=$work/root
mkdir -p "$root/bin" "$root/lib" "$root/lib64" "$root/modules" "$root/etc/libibverbs.d" "$root/proc" "$root/sys" "$root/dev" "$root/rf"

# ---- modules, in the order in which they are loaded ----
: > "$root/modules/order"
add_module() {
	file=$(find "$modules" -name "$1.ko" -o -name "$(echo "$1" | tr _ -).ko" | head -n 1)
	# a module that is built into the kernel has no file
	[ -n "$file" ] || return 0
	name=$(basename "$file")
	grep -qx "$name" "$root/modules/order" && return 0
	for needed in $(modinfo -F depends "$file" | tr , ' '); do
		add_module "$needed"
	done
	file=$(find "$modules" -name "$1.ko" -o -name "$(echo "$1" | tr _ -).ko" | head -n 1)
	name=$(basename "$file")
	cp "$file" "$root/modules/"
	echo "$name" >> "$root/modules/order"
}
for m in virtio_pci virtio_net crc32_generic crc32c_generic libcrc32c ib_uverbs rdma_cm rdma_rxe rdma_ucm; do
	add_module $m
done
for m in virtio_net rdma_rxe rdma_ucm ib_uverbs; do
	grep -q "^$m.ko" "$root/modules/order" || missing "$deb has no $m"
done

# ---- programs and the libraries that they need ----
cp "$(command -v busybox)" "$root/bin/busybox"
for applet in $("$root/bin/busybox" --list); do
	[ -e "$root/bin/$applet" ] || ln -s busybox "$root/bin/$applet"
done
add_program() {
	rm -f "$root/bin/$(basename "$1")"
	cp -L "$1" "$root/bin/"
	add_libraries "$1"
}
add_libraries() {
	for lib in $(ldd "$1" | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p; s/^[[:space:]]*\(\/lib64[^ ]*\).*/\1/p'); do
		case $lib in
		/lib64/*) cp -Ln "$lib" "$root/lib64/" 2> /dev/null || true ;;
		*) cp -Ln "$lib" "$root/lib/" 2> /dev/null || true ;;
		esac
	done
}
for p in flock ibv_rc_pingpong ibv_devinfo ib_send_bw ib_write_bw ib_read_bw rping rdma; do
	add_program "$(command -v $p)"
done
provider=$(ls /usr/lib/*/libibverbs/librxe-rdmav*.so | head -n 1)
mkdir -p "$root$(dirname "$provider")"
cp -L "$provider" "$root$(dirname "$provider")/"
cp -L "$provider" "$root/lib/"
add_libraries "$provider"
cp /etc/libibverbs.d/rxe.driver "$root/etc/libibverbs.d/"
# pthread_exit loads it by name
cp -Ln "$(gcc -print-file-name=libgcc_s.so.1 2> /dev/null || ls /lib/*/libgcc_s.so.1)" "$root/lib/"
# programs load librdmacm by name
cp -Ln /usr/lib/x86_64-linux-gnu/librdmacm.so.1 /usr/lib/x86_64-linux-gnu/libibverbs.so.1 "$root/lib/"
# ib_send_bw looks up the owner of its process
printf 'root:x:0:0::/:/bin/sh\n' > "$root/etc/passwd"
printf '127.0.0.1 localhost\n' > "$root/etc/hosts"
install -m 755 "$here/guest/init" "$root/init"

cp "$work"/boot/vmlinuz-* "$work/vmlinuz"
(cd "$root" && find . | LC_ALL=C sort | busybox cpio -o -H newc 2> /dev/null) | gzip -n -1 > "$work/base.cpio.gz"
basename "$modules" > "$work/kernel.version"
mv "$work/vmlinuz" "$work/base.cpio.gz" "$work/kernel.version" "$out/"
