// The section `bus` of the configuration: which transport carries events, and how NATS is reached.
import { z } from "zod";
import { key } from "../key-facts.ts";
import { clearText, dayS, path, pathExpected, section, whole } from "../key-forms.ts";
import { isBusUrl } from "../value-forms.ts";

export const bus = section({
  url: key(z.string().refine(isBusUrl).optional(), {
    sentence: "A NATS server with JetStream to carry events.",
    environment: "PORTCULLIS_BUS_URL",
    secrecy: "credentials",
    expected: "one or more URLs such as nats://host:4222, separated by commas",
    whenAbsent: "events travel through PostgreSQL",
  }),
  retention_s: key(whole(600, 3_650 * dayS).default(3_600), {
    sentence: "How long an event is kept after everybody has handled it, in seconds.",
  }),
  compression: key(z.enum(["none", "s2"]).default("none"), {
    sentence: "Compression of the stream on NATS; needs a server of version 2.10 or newer.",
  }),
  creds_file: key(path().optional(), {
    sentence: "The file with the login on NATS that all services share; only its owner may read it.",
    environment: "PORTCULLIS_BUS_CREDS_FILE",
    expected: pathExpected("a file"),
    whenAbsent: "what stands in `bus.url`",
  }),
  creds_dir: key(path().optional(), {
    sentence: "The folder with a login on NATS for each service, `<service>.creds`; only their owner may read them.",
    environment: "PORTCULLIS_BUS_CREDS_DIR",
    expected: pathExpected("a folder"),
    whenAbsent: "one login for all",
  }),
  tls_ca_file: key(path().optional(), {
    sentence: "The certificate authority of the NATS servers, as PEM; with it the connection must be encrypted.",
    environment: "PORTCULLIS_BUS_TLS_CA_FILE",
    expected: pathExpected("a file"),
    whenAbsent: "the authorities that Node.js knows",
  }),
  insecure: clearText("a NATS server", "PORTCULLIS_BUS_INSECURE"),
  replicas: key(whole(1, 5).default(1), {
    sentence: "How many servers of a NATS cluster keep the stream; only for a stream that does not exist yet.",
    environment: "PORTCULLIS_BUS_REPLICAS",
  }),
  bytes_max: key(whole(1_048_576, 1_125_899_906_842_624).default(2_147_483_648), {
    sentence: "How large the stream on NATS may grow, in bytes; only for a stream that does not exist yet.",
    environment: "PORTCULLIS_BUS_BYTES_MAX",
  }),
});
