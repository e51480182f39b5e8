#!/bin/sh
# Makes generated/ from the platform's protos, with Debian's protoc and plugin:
#   apt-get install protobuf-compiler protobuf-compiler-grpc libprotobuf-dev python3-protobuf python3-grpcio
# or, where grpcio-tools is installed: GRPC_TOOLS=1 sh generate.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
protos=${PROTOS:-$here/../../contracts/proto}
out=${GENERATED:-$here/generated}
mkdir -p "$out"
cd "$protos"
files="portcullis/v1/options.proto svc/v1/envelope.proto svc/v1/halt.proto svc/v1/order.proto
  svc/v1/riskengine.proto svc/v1/foreign.proto svc/v1/events.proto"
if [ -n "${GRPC_TOOLS:-}" ]; then
  python3 -m grpc_tools.protoc -I . --python_out="$out" --grpc_python_out="$out" $files
else
  protoc -I . --python_out="$out" --grpc_python_out="$out" \
    --plugin=protoc-gen-grpc_python="$(command -v grpc_python_plugin)" $files
fi
