// The section `tls` of the configuration: the certificate that everybody sees who connects, and those by which our own processes on several machines
// know each other.
import { key } from "../key-facts.ts";
import { path, pathExpected, section } from "../key-forms.ts";

const file = (environment: string, sentence: string, whenAbsent: string) =>
  key(path().optional(), { sentence, environment, expected: pathExpected("a file"), whenAbsent });

export const tls = section({
  cert_file: file(
    "PORTCULLIS_TLS_CERT_FILE",
    "The certificate of the HTTP and gRPC ports, as PEM, followed by those between it and its authority; read again when it changes.",
    "the ports speak clear text, which only this machine may hear",
  ),
  key_file: file(
    "PORTCULLIS_TLS_KEY_FILE",
    "The certificate's private key, as PEM without a passphrase; only its owner may read the file.",
    "none; needed with `tls.cert_file`",
  ),
  peer_ca_file: file(
    "PORTCULLIS_TLS_PEER_CA_FILE",
    "The authority, as PEM, from which the certificates of our own processes on other machines must come; all three `tls.peer_*` or none.",
    "services on other machines are not asked",
  ),
  peer_cert_file: file(
    "PORTCULLIS_TLS_PEER_CERT_FILE",
    "The certificate that services here show those on other machines, as client and as gRPC server (there instead of `tls.cert_file`); it names this machine.",
    "none; needed with `tls.peer_ca_file`",
  ),
  peer_key_file: file(
    "PORTCULLIS_TLS_PEER_KEY_FILE",
    "The private key of `tls.peer_cert_file`, as PEM without a passphrase; only its owner may read the file.",
    "none; needed with `tls.peer_ca_file`",
  ),
});
