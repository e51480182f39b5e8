"""Where the platform is and who we are: two channels, one token.

RISK_ENGINE and OPERATIONS are the two gRPC ports, TOKEN_FILE holds the token, CA_FILE the authority of the platform's certificate where it speaks TLS.
What is not set is read from the data folder of a platform on this machine (PORTCULLIS_DATA_DIR), as every development platform writes it.
"""
import json
import os
import pathlib
import sys

import grpc

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, os.environ.get("GENERATED", str(here / "generated")))

from svc.v1 import events_pb2_grpc, foreign_pb2_grpc, riskengine_pb2_grpc  # noqa: E402

# Without these a channel waits for up to two minutes before it tries a platform again that was restarted.
OPTIONS = [("grpc.initial_reconnect_backoff_ms", 100), ("grpc.max_reconnect_backoff_ms", 1000)]


def from_data_folder(name):
    folder = pathlib.Path(os.environ.get("PORTCULLIS_DATA_DIR", ".portcullis"))
    return json.loads((folder / name).read_text())


def token():
    if "TOKEN_FILE" in os.environ:
        return pathlib.Path(os.environ["TOKEN_FILE"]).read_text().strip()
    return from_data_folder("dev-credentials.json")["service_token"]


def channel(variable, service):
    address = os.environ.get(variable) or from_data_folder("run.json")["addresses"][service]
    if "CA_FILE" not in os.environ:
        return grpc.insecure_channel(address, OPTIONS)
    authority = pathlib.Path(os.environ["CA_FILE"]).read_bytes()
    return grpc.secure_channel(address, grpc.ssl_channel_credentials(authority), OPTIONS)


class Platform:
    """The stubs. Every call takes `metadata=platform.metadata`; every call but a stream takes a timeout."""

    def __init__(self):
        risk_engine, operations = channel("RISK_ENGINE", "riskengine"), channel("OPERATIONS", "operations")
        self.engine = riskengine_pb2_grpc.RiskEngineStub(risk_engine)
        self.foreign = foreign_pb2_grpc.ForeignEventsStub(operations)
        self.events = events_pb2_grpc.EventsStub(operations)
        self.metadata = (("authorization", "Bearer " + token()),)


def why(error):
    """What a failed call says: its status, the platform's own code where it has one, and a sentence."""
    trailers = dict(error.trailing_metadata() or ()) if isinstance(error, grpc.Call) else {}
    return f"{error.code().name} {trailers.get('portcullis-code', '')} {error.details()}"


def may_retry(error):
    """docs/errors.md as a function: whether to ask again with the same key."""
    trailers = dict(error.trailing_metadata() or ()) if isinstance(error, grpc.Call) else {}
    return trailers.get("portcullis-retry", "later") != "never"
