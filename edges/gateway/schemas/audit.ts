// What the routes about the audit chain take and answer. What may stand in an entry is the service's to judge; here only its size and form are
// bounded, so that nothing reaches the codec that it could choke on.
import { z } from "zod";
import { countNumber, hashText } from "../../../contracts/src/records/fields.ts";
import { timeText } from "./fields.ts";

const sequenceAsked = z.coerce.number().int().min(0);
const sequence = countNumber.meta({ description: "The entry's number; contiguous from 0." });
const subjectText = z.string().min(1).max(256).meta({ description: "What it was done to: an order id, a fund id." });
const dataRecord = z.record(z.string(), z.unknown()).meta({ description: "Everything else." });

export const trailQuery = z.strictObject({ subject_id: subjectText });

export const verifyQuery = z.strictObject({
  from_sequence: sequenceAsked.optional().meta({ description: "Verify from this entry on; 0 when absent." }),
});

export const entriesQuery = z.strictObject({
  from_sequence: sequenceAsked.optional().meta({ description: "The first entry; 0 when absent." }),
  count_max: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000)
    .optional()
    .meta({ description: "At most this many; the next page is in the Link header." }),
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

export const bundleQuery = z.strictObject({
  from_sequence: sequenceAsked.optional().meta({ description: "The first entry; 0 when absent." }),
  count: z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .meta({ description: "How many entries; up to the newest checkpoint when absent." }),
});

/** As deep as an entry may be; whatever walks the value after this has an end. */
const levelsMax = 32;

function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isWithin(inner, levels - 1));
}

export const appendBody = z.strictObject({
  action: z.string().min(1).max(128).meta({ description: "What was done, such as order.placed." }),
  subject_id: subjectText,
  data: dataRecord
    .refine((value) => isWithin(value, levelsMax), `expected at most ${levelsMax} levels`)
    .optional()
    .meta({ description: "Everything else; money and quantities as text, whole numbers only. Empty when absent." }),
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
  })
  .meta({ description: "An entry of the audit chain." });

export const trailAnswer = z.array(entryAnswer).meta({ description: "Everything about one subject, oldest first." });

const trustLevel = z
  .string()
  .meta({ description: "L0 consistent in itself, L1 against our own checkpoints, L2 against witnesses." });
const unanchored = countNumber.meta({ description: "Entries since the last checkpoint that the level rests on." });

export const verificationAnswer = z
  .object({
    entry_count: countNumber.meta({ description: "How many entries were verified." }),
    gap_count: countNumber.meta({ description: "Always 0: a chain with a gap is a broken one, which is a problem." }),
    trust_level: trustLevel,
    unanchored_count: unanchored,
  })
  .meta({ description: "The chain is whole. A broken one is the problem CHAIN_INTEGRITY with chain_integrity_error." });

export const entriesAnswer = z.object({
  texts: z.array(z.string()).meta({
    description: "The entries in order, each as the exact text that is hashed into the tree; JSON in itself.",
  }),
  size: countNumber.meta({ description: "How many entries the log has." }),
});

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
  trust: z.string().meta({ description: "Who vouches for it: operator-trusted while no witness is configured." }),
  witnesses_needed: countNumber.meta({ description: "How many of the witnesses must cosign." }),
  witnesses: z.array(z.string()),
  keys: z.array(z.string()).meta({ description: "The keys in force, as vkeys." }),
  verified_at: timeText.optional().meta({ description: "When it last verified itself." }),
  verified: z.string().optional().meta({ description: "What came of it." }),
});

export const inspectionAnswer = z.object({
  entry_count: countNumber,
  trust_level: trustLevel,
  unanchored_count: unanchored,
  findings: z.array(z.string()).meta({ description: "What was not as it should be; empty when all is well." }),
  rebuilt: z.array(z.string()).meta({ description: "What was written anew." }),
});
