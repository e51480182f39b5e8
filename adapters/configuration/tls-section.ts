// The section `tls` of the configuration: the certificate that everybody sees who connects.
import { key } from "./key-facts.ts";
import { path, pathExpected, section } from "./key-forms.ts";

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
});
