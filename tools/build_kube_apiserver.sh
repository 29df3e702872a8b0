#!/usr/bin/env bash
# A real Kubernetes to compare with: kube-apiserver, kube-controller-manager and kube-scheduler 1.20, built from Debian 12's
# source package, and Debian's etcd and kubectl beside them.
#
#   tools/build_kube_apiserver.sh [FOLDER]        (build/kubernetes)
#
# The folder is one that KUBEBUILDER_ASSETS may name. Nothing is installed: packages are unpacked in FOLDER/work, which goes
# when all is done (it needs 4 GB meanwhile, and about ten minutes on two cores). Stopped and called again, it goes on from
# where it was. Needs apt-get, dpkg and Debian's archive key.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=${1:-$root/build/kubernetes}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
work=$folder/work

SUITE=bookworm
MIRROR=http://deb.debian.org/debian
KEY=/usr/share/keyrings/debian-archive-keyring.gpg
GO=1.19
SERVERS=(kube-apiserver kube-controller-manager kube-scheduler)

say() { printf '== %s\n' "$*"; }
die() { printf 'build_kube_apiserver: %s\n' "$*" >&2; exit 1; }

whole() {
  local program
  for program in "${SERVERS[@]}" etcd kubectl; do
    [[ -x $folder/$program ]] || return 1
  done
}

# Lists of packages of its own, so that neither the machine's sources nor its installed packages matter.
private_apt() {
  mkdir -p "$work/apt/lists/partial" "$work/apt/archives/partial"
  printf '%s [signed-by='"$KEY"'] '"$MIRROR $SUITE"' main\n' deb deb-src >"$work/apt/sources.list"
  cat >"$work/apt/apt.conf" <<END
Dir::Etc::SourceList "$work/apt/sources.list";
Dir::Etc::SourceParts "-";
Dir::State::Lists "$work/apt/lists";
Dir::Cache "$work/apt";
APT::Sandbox::User "";
END
  export APT_CONFIG=$work/apt/apt.conf
}

download() {
  [[ ! -e $work/downloaded ]] || return 0
  [[ -r $KEY ]] || die "$KEY is not there: install debian-archive-keyring"
  private_apt
  say "downloading the source of kubernetes, Go $GO, etcd and kubectl from Debian $SUITE"
  (cd "$work" && apt-get -qq update && apt-get -qq source --download-only kubernetes &&
    apt-get -qq download "golang-$GO-go" "golang-$GO-src" etcd-server kubernetes-client)
  touch "$work/downloaded"
}

unpack() {
  [[ ! -e $work/unpacked ]] || return 0
  say "unpacking"
  local package
  for package in "golang-$GO-go" "golang-$GO-src" etcd-server kubernetes-client; do
    dpkg -x "$work/$package"_*.deb "$work/debian"
  done
  mkdir -p "$tree"
  # Debian's own changes of this package concern kubectl.
  tar -xf "$work"/kubernetes_*.orig.tar.gz -C "$tree" --strip-components=1
  cp "$work/debian/usr/bin/etcd" "$work/debian/usr/bin/kubectl" "$folder"
  touch "$work/unpacked"
}

# This source is older than Go's modules in Debian: it is built as a GOPATH, from its own vendor folder, offline.
go_environment() {
  export GOROOT=$work/debian/usr/lib/go-$GO GOPATH=$work/gopath GOCACHE=$work/cache GOENV=off GOPROXY=off GO111MODULE=off
  export CGO_ENABLED=0 HOME=$work PATH=$work/debian/usr/lib/go-$GO/bin:$PATH
}

# The description of all kinds, which the source package leaves out.
generate_openapi() {
  [[ ! -e $work/generated ]] || return 0
  say "generating the OpenAPI description"
  local folders
  cd "$tree"
  nice -n 5 go build -o "$work/openapi-gen" k8s.io/kubernetes/vendor/k8s.io/kube-openapi/cmd/openapi-gen
  # Packages of staging/ are linked into vendor/, and are named by that.
  folders=$( (grep -rl --include='*.go' '+k8s:openapi-gen=' pkg | xargs -n1 dirname
    grep -rl --include='*.go' '+k8s:openapi-gen=' staging/src/k8s.io | xargs -n1 dirname | sed 's|^staging/src/|vendor/|') |
    grep -v -e /code-generator/ -e /sample-apiserver/ | LC_ALL=C sort -u | sed 's|^|k8s.io/kubernetes/|' | paste -sd,)
  nice -n 5 "$work/openapi-gen" --logtostderr -i "$folders" -p k8s.io/kubernetes/pkg/generated/openapi \
    -O zz_generated.openapi -h vendor/k8s.io/code-generator/hack/boilerplate.go.txt -r "$work/violations" >/dev/null
  touch "$work/generated"
}

# Clients decide by the server's version, and the sources alone do not say it.
version_flags() {
  local version package
  version=$(sed -n 's/^Version: .*really\([0-9.]*\)-.*/\1/p' "$work"/kubernetes_*.dsc)
  for package in client-go/pkg/version component-base/version; do
    printf -- '-X k8s.io/kubernetes/vendor/k8s.io/%s.gitVersion=v%s ' "$package" "$version"
    printf -- '-X k8s.io/kubernetes/vendor/k8s.io/%s.gitMajor=%s ' "$package" "${version%%.*}"
    printf -- '-X k8s.io/kubernetes/vendor/k8s.io/%s.gitMinor=%s ' "$package" "$(cut -d. -f2 <<<"$version")"
  done
}

build() {
  local program
  cd "$tree"
  for program in "${SERVERS[@]}"; do
    [[ ! -x $folder/$program ]] || continue
    say "building $program"
    nice -n 5 go build -p "$(nproc)" -ldflags "-s -w $(version_flags)" -o "$work/$program" "k8s.io/kubernetes/cmd/$program"
    mv "$work/$program" "$folder/$program"
  done
}

if whole; then
  say "all is there: $folder"
  exit 0
fi
mkdir -p "$work"
tree=$work/gopath/src/k8s.io/kubernetes
download
unpack
go_environment
generate_openapi
build
rm -rf "$work"
say "done: export KUBEBUILDER_ASSETS=$folder"
