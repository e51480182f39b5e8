// What the routes about the audit chain take and answer. What may stand in an entry is the service's to judge; here only its size and form are
// bounded, so that nothing reaches the codec that it could choke on.
import { z } from "zod";
import { countNumber, hashText } from "../../../contracts/src/records/fields.ts";
import { wholeAsked } from "./asked-numbers.ts";
import { confirmed, reasonLine, timeText } from "./fields.ts";
import { proofText } from "./second-factor.ts";

const sequenceAsked = wholeAsked(0);
/** Closed logs have numbers below that of the log that is written. */
const logAsked = wholeAsked(1, 8_192)
  .optional()
  .meta({ description: "The number of the log; the one that is written when absent." });
const sequence = countNumber.meta({ description: "The entry's number; contiguous from 0." });
const subjectText = z.string().min(1).max(256).meta({ description: "What it was done to: an order id, a fund id." });
const dataRecord = z.record(z.string(), z.unknown()).meta({ description: "Everything else." });

export const trailQuery = z.strictObject({
  subject_id: subjectText,
  from_sequence: sequenceAsked.optional().meta({ description: "The first entry of the page; 0 when absent." }),
  count_max: wholeAsked(1, 1_000)
    .optional()
    .meta({ description: "At most this many, 1,000 when absent; the next page is in the Link header." }),
  count_before: sequenceAsked.optional().meta({
    description: "How many the pages before had, so that the last one proves that none was left out of any of them.",
  }),
  log: wholeAsked(1, 8_192).optional().meta({
    description: "The log that from_sequence is about. Absent: closed logs come first when from_sequence is 0.",
  }),
});

export const verifyQuery = z.strictObject({
  from_sequence: sequenceAsked.optional().meta({ description: "Verify from this entry on; 0 when absent." }),
  log: logAsked,
});

export const entriesQuery = z.strictObject({
  from_sequence: sequenceAsked.optional().meta({ description: "The first entry; 0 when absent." }),
  count_max: wholeAsked(1, 1_000)
    .optional()
    .meta({ description: "At most this many; the next page is in the Link header." }),
  log: logAsked,
});

export const tailQuery = z.strictObject({
  from_sequence: sequenceAsked.optional().meta({
    description:
      "The first entry; what comes next when absent. The header Last-Event-ID, the last sequence that was read, goes before it.",
  }),
});

export const sequenceParams = z.strictObject({
  sequence: sequenceAsked.meta({ description: "The entry's number." }),
});

export const tileParams = z.strictObject({
  path: z
    .string()
    .regex(
      /^(entries|0|[1-9][0-9]?)\/(x[0-9]{3}\/){0,5}[0-9]{3}(\.p\/[1-9][0-9]{0,2})?$/,
      "expected the path of a tile such as 0/x001/067 or entries/000.p/12",
    )
    .meta({ description: "Level or `entries`, number and width as C2SP tlog-tiles writes them: 0/x001/067." }),
});

export const consistencyQuery = z.strictObject({
  first_size: sequenceAsked.meta({ description: "The size of the checkpoint that you have kept." }),
  second_size: wholeAsked(1)
    .optional()
    .meta({ description: "The larger size; that of the newest checkpoint when absent." }),
});

export const bundleQuery = z.strictObject({
  from_sequence: sequenceAsked.optional().meta({ description: "The first entry; 0 when absent." }),
  count: wholeAsked(1).optional().meta({ description: "How many entries; up to the newest checkpoint when absent." }),
  log: logAsked,
});

/** As deep as an entry may be; whatever walks the value after this has an end. */
const levelsMax = 32;

function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isWithin(inner, levels - 1));
}

export const appendBody = z.strictObject({
  // In UTF-16 units, of which a character has one or two: the service counts characters.
  action: z.string().min(1).max(256).meta({
    description:
      "What was done, in 1 to 128 printable characters, such as order.placed; not one of the platform's own, nor what reads as one.",
  }),
  subject_id: subjectText,
  data: dataRecord
    .refine((value) => isWithin(value, levelsMax), `expected at most ${levelsMax} levels`)
    .optional()
    .meta({
      description:
        "Everything else: any JSON. Money and quantities, and whole numbers beyond 2^53 - 1, as text. Empty when absent.",
    }),
  idempotency_key: z.string().min(1).max(200).optional().meta({
    description: "The same key with the same content answers with the entry that it made; with another it is refused.",
  }),
});

export const inspectBody = z.strictObject({
  rebuild: z
    .boolean()
    .optional()
    .meta({ description: "Write anew what can be derived from the entries. Only compared when absent." }),
});

export const entryAnswer = z
  .object({
    sequence,
    timestamp: timeText,
    actor: z.string().meta({ description: "Who did it, as proved." }),
    action: z.string().meta({ description: "What was done." }),
    subject_id: z.string(),
    data: dataRecord,
    prev_hash: hashText.meta({ description: "The hash of the entry before; zeros in the first." }),
    hash: hashText,
    log: countNumber.optional().meta({
      description: "Of an entry of a log that was closed because it did not verify: that log's number.",
    }),
  })
  .meta({ description: "An entry of the audit chain." });

export const trailAnswer = z.array(entryAnswer).meta({ description: "Everything about one subject, oldest first." });

const trustLevel = z.string().meta({
  description:
    "L0 consistent with itself and nobody vouches for it, L1 as our own checkpoints say, L2 as enough witnesses have cosigned.",
});
const unanchored = countNumber.meta({ description: "Entries since the last checkpoint that the level rests on." });

export const verificationAnswer = z
  .object({
    entry_count: countNumber.meta({ description: "How many entries were verified." }),
    gap_count: countNumber.meta({ description: "Always 0: a chain with a gap is a broken one, which is a problem." }),
    trust_level: trustLevel,
    unanchored_count: unanchored,
    covered_size: countNumber.meta({ description: "The size of the largest checkpoint that the level rests on." }),
  })
  .meta({ description: "The chain is whole. A broken one is the problem CHAIN_INTEGRITY with chain_integrity_error." });

export const entriesAnswer = z.object({
  texts: z.array(z.string()).meta({
    description: "The entries in order, each as the exact text that is hashed into the tree; JSON in itself.",
  }),
  size: countNumber.meta({ description: "How many entries the log has." }),
});

const rootText = z.string().meta({ description: "The root of the tree of that size, in base64 as in a checkpoint." });

export const consistencyAnswer = z
  .object({
    first_size: countNumber,
    first_root: rootText,
    second_size: countNumber,
    second_root: rootText,
    proof: z.array(z.string()).meta({ description: "The hashes of the proof of RFC 6962, in order, in base64." }),
    checkpoint: z
      .string()
      .optional()
      .meta({ description: "The signed checkpoint of the second size; absent when none was signed at that size." }),
  })
  .meta({ description: "Whoever verifies it takes the first root from the checkpoint that they have kept." });

export const bundleHeadAnswer = z.object({
  head: z.string().meta({ description: "The first two lines of the bundle, line ends included; the entries follow." }),
  from_sequence: countNumber,
  count: countNumber.meta({ description: "How many entries belong to the bundle." }),
});

export const statusAnswer = z.object({
  origin: z.string(),
  size: countNumber.meta({ description: "How many entries the log has." }),
  hash: z.string().meta({ description: "Of the newest entry." }),
  checkpoint_size: countNumber.meta({ description: "How many of them the newest checkpoint covers." }),
  checkpoint: z.string().optional().meta({ description: "The newest checkpoint with all its signatures." }),
  trust: z.string().meta({ description: "Who vouches for it: operator-trusted until enough witnesses have cosigned." }),
  witnessed_size: countNumber.meta({
    description: "How many of them enough witnesses have cosigned; 0 while one of them knows another history.",
  }),
  witnesses_needed: countNumber.meta({ description: "How many of the witnesses must cosign." }),
  witnesses: z.array(z.string()),
  witness_complaints: z
    .array(z.string())
    .meta({ description: "Why some did not cosign the last one they were shown." }),
  keys: z.array(z.string()).meta({ description: "The keys in force, as vkeys." }),
  verified_at: timeText.optional().meta({ description: "When it last verified itself." }),
  verified: z.string().optional().meta({ description: "What came of it." }),
  key_terms: z
    .array(
      z.object({
        vkey: z.string(),
        key_id: z.string().meta({ description: "Eight hex digits." }),
        from_size: countNumber.meta({ description: "The first size of a checkpoint that it may sign." }),
        to_size: countNumber.optional().meta({ description: "The last one; absent while it signs." }),
        revoked: z.boolean(),
      }),
    )
    .meta({ description: "Every key that the log ever signed with, the oldest first." }),
  anchors: z
    .array(
      z.object({
        name: z.string(),
        size: countNumber.meta({ description: "Of the newest checkpoint that it has." }),
        behind_s: countNumber.meta({ description: "For how long it has not had the newest one." }),
        complaint: z.string().optional().meta({ description: "Why the last attempt failed." }),
      }),
    )
    .meta({ description: "The places outside the database that have a copy of the checkpoints." }),
  complaint: z.string().optional().meta({ description: "What is wrong right now; absent when nothing is." }),
  broken: z.boolean().meta({ description: "Whether that is the log itself: it is not what was signed or cosigned." }),
  log: countNumber.optional().meta({ description: "The number of the log; absent of the first of all." }),
  closed_logs: z
    .array(
      z.object({
        log: countNumber,
        origin: z.string(),
        size: countNumber.meta({ description: "How many entries it should have." }),
        closed_at: timeText,
        checkpoint_size: countNumber.meta({ description: "Of the newest checkpoint that it had signed." }),
        checkpoint: z.string(),
        verified_size: countNumber.meta({ description: "Of the largest that its entries still led to." }),
        fault: z.object({ code: z.string(), sequence: countNumber, expected: z.string(), actual: z.string() }),
        reason: z.string(),
        requested_by: z.string(),
        cosigned_by: z.string(),
        keys: z.array(z.string()).meta({ description: "Its keys, as vkeys." }),
      }),
    )
    .optional()
    .meta({
      description: "The logs that were closed because they did not verify, the oldest first; absent when none was.",
    }),
});

export const inspectionAnswer = z.object({
  entry_count: countNumber,
  trust_level: trustLevel,
  unanchored_count: unanchored,
  findings: z.array(z.string()).meta({ description: "What was not as it should be; empty when all is well." }),
  rebuilt: z.array(z.string()).meta({ description: "What was written anew." }),
  covered_size: countNumber.meta({ description: "The size of the largest checkpoint that the level rests on." }),
  fault: z
    .object({ code: z.string(), sequence: countNumber, expected: z.string(), actual: z.string() })
    .optional()
    .meta({ description: "Where the chain is broken; absent when it is not." }),
});

export const beginVerificationBody = z.strictObject({
  from_sequence: countNumber.optional().meta({ description: "Verify from this entry on; 0 when absent." }),
  log: z
    .int()
    .min(1)
    .max(8_192)
    .optional()
    .meta({ description: "The number of the log; the one that is written when absent." }),
});

export const runParams = z.strictObject({
  run_id: z.string().regex(/^[0-9a-f-]{1,64}$/, "expected the id of a run"),
});

export const runAnswer = z
  .object({
    run_id: z.string(),
    done: z.boolean(),
    next_sequence: countNumber.meta({ description: "The next entry that it looks at." }),
    size: countNumber.meta({ description: "How many entries the log had when it began." }),
    verification: verificationAnswer.optional(),
    inspection: inspectionAnswer.optional(),
  })
  .meta({
    description:
      "A verification or an inspection that may take long. It goes on while somebody asks about it, and is given up a minute after the last question.",
  });

const keyId = z.string().regex(/^[0-9a-f]{8}$/, "expected the eight hex digits of a key's id");

export const keyParams = z.strictObject({ key_id: keyId });

export const keyChangeBody = z.strictObject({ reason: reasonLine, step_up_proof: proofText.optional() });

export const keyChangeAnswer = z.object({
  sequence: countNumber.meta({ description: "Of the entry that says so." }),
  key: z.string().meta({ description: "The key that signs now, as a vkey." }),
  old_key: z.string().meta({ description: "The key that does not any more." }),
  trusted_size: countNumber.meta({ description: "Up to which size the old key's checkpoints count." }),
});

export const erasureBody = z.strictObject({
  subject_id: z.string().min(1).max(256).meta({ description: "The person, as entries name them: operator:ada." }),
  confirmation: confirmed("ERASE"),
  reason: reasonLine,
  step_up_proof: proofText.optional(),
});

export const erasureAnswer = z.object({
  subject_id: z.string(),
  sequences: z.array(countNumber).meta({
    description: "Of the entries that say that a key is gone; empty when nothing is sealed about the person.",
  }),
});

export const anewBody = z.strictObject({
  confirmation: confirmed("ANEW"),
  reason: reasonLine,
  step_up_proof: proofText.optional(),
});

export const anewParams = z.strictObject({
  request_id: z.string().min(1).max(128).meta({ description: "As the request was answered." }),
});

export const anewCosignBody = z.strictObject({
  confirmation: confirmed("ANEW"),
  step_up_proof: proofText.optional(),
});

export const anewAnswer = z.object({
  request_id: z.string(),
  pending: z.boolean().meta({ description: "Whether a second person has still to sign; then nothing has been done." }),
  expires_at: timeText,
  closed_log: countNumber.meta({ description: "The number of the log that is to be closed, or was." }),
  closed_origin: z.string(),
  log: countNumber.meta({ description: "The number of the log that has begun; 0 while it is pending." }),
  origin: z.string(),
  key: z.string().meta({ description: "Its first key, as a vkey." }),
  sequence: countNumber.meta({ description: "Of the entry that names the closed log." }),
});
