// The section `audit` of the configuration: who else vouches for the audit log, and how often it verifies itself.
import { z } from "zod";
import { key } from "./key-facts.ts";
import { dayS, path, pathExpected, section, whole } from "./key-forms.ts";
import { isHttpUrl, isPostgresUrl } from "./value-forms.ts";

const witnessExpected = "a URL and the witness's vkey with a space between them";

export const audit = section({
  witnesses: key(
    z.array(key(z.string().refine(isWitness), { sentence: "A witness.", expected: witnessExpected })).default([]),
    {
      sentence:
        "Who is shown every checkpoint and cosigns what continues the last one: each a URL and a vkey with a space between them. In the environment a comma-separated list.",
      environment: "PORTCULLIS_AUDIT_WITNESSES",
      expected: witnessExpected,
      whenAbsent: "nobody: whoever runs the platform must be trusted",
    },
  ),
  witnesses_needed: key(whole(1, 64).default(1), {
    sentence: "How many of the witnesses must have cosigned a checkpoint before it counts as witnessed.",
    environment: "PORTCULLIS_AUDIT_WITNESSES_NEEDED",
  }),
  anchor_file: key(path().optional(), {
    sentence: "A file on another disk to which every checkpoint is appended.",
    environment: "PORTCULLIS_AUDIT_ANCHOR_FILE",
    expected: pathExpected("a file"),
    whenAbsent: "no such file",
  }),
  anchor_database_url: key(z.string().refine(isPostgresUrl).optional(), {
    sentence: "Another PostgreSQL, in other hands, in which every checkpoint is put into a table.",
    environment: "PORTCULLIS_AUDIT_ANCHOR_DATABASE_URL",
    secrecy: "credentials",
    expected: "a URL such as postgres://user@host:5432/database",
    whenAbsent: "no such database",
  }),
  verify_every_s: key(whole(10, 7 * dayS).default(3_600), {
    sentence:
      "How often the audit log verifies itself, in seconds; the result is an entry, and an alarm when it fails.",
    environment: "PORTCULLIS_AUDIT_VERIFY_EVERY_S",
  }),
  verify_first_after_s: key(whole(1, dayS).default(5), {
    sentence: "How long after the start it does so first, in seconds.",
    environment: "PORTCULLIS_AUDIT_VERIFY_FIRST_AFTER_S",
  }),
  behind_max_s: key(whole(5, 3_600).default(30), {
    sentence:
      "How far the audit log may be behind the outbox, in seconds; beyond that new risk is denied (AUDIT_UNAVAILABLE) until it has caught up.",
    environment: "PORTCULLIS_AUDIT_BEHIND_MAX_S",
  }),
});

/** A URL and a key; whether the key is one is found out when it is first used. */
function isWitness(text: string): boolean {
  const [url, vkey, ...rest] = text.split(" ");
  return rest.length === 0 && url !== undefined && isHttpUrl(url) && vkey !== undefined && vkey.split("+").length >= 3;
}
