// What the routes about the audit chain take and answer. What may stand in an entry is the service's to judge; here only its size and form are
// bounded, so that nothing reaches the codec that it could choke on.
import { z } from "zod";
import { atMost } from "../../../contracts/src/bounds/at-most.ts";
import { countNumber } from "../../../contracts/src/records/fields.ts";
import { asItIs, typed } from "../../../contracts/src/text/typed.ts";
import { objectAnswer } from "../declared/answers.ts";
import { anyMostIn } from "../declared/most.ts";

const subjectText = asItIs(z.string().min(1).max(256), "names what exists").meta({
  description: "What it was done to: an order id, a fund id.",
});
const dataRecord = z.record(z.string(), z.unknown()).meta({ description: "Everything else." });

export const tileParams = z.strictObject({
  path: z
    .string()
    .regex(
      /^(entries|0|[1-9][0-9]?)\/(x[0-9]{3}\/){0,5}[0-9]{3}(\.p\/[1-9][0-9]{0,2})?$/,
      "expected the path of a tile such as 0/x001/067 or entries/000.p/12",
    )
    .meta({ description: "Level or `entries`, number and width as C2SP tlog-tiles writes them: 0/x001/067." }),
});

/** As deep as an entry may be; whatever walks the value after this has an end. */
const levelsMax = 32;

function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isWithin(inner, levels - 1));
}

export const appendBody = z.strictObject({
  // In UTF-16 units, of which a character has one or two: the service counts characters.
  action: typed(z.string().min(1).max(256)).meta({
    description:
      "What was done, in 1 to 128 printable characters, such as order.placed; not one of the platform's own, nor what reads as one.",
  }),
  subject_id: subjectText,
  data: atMost(
    typed(dataRecord.refine((value) => isWithin(value, levelsMax), `expected at most ${levelsMax} levels`)),
    anyMostIn("AppendAuditRequest", "data"),
  )
    .optional()
    .meta({
      description:
        "Everything else: any JSON. Money and quantities, and whole numbers beyond 2^53 - 1, as text. Empty when absent.",
    }),
  idempotency_key: typed(z.string().min(1).max(200)).optional().meta({
    description: "The same key with the same content answers with the entry that it made; with another it is refused.",
  }),
});

export const entryAnswer = objectAnswer("AuditEntry")
  .extend({
    log: countNumber.optional().meta({
      description: "Of an entry of a log that was closed because it did not verify: that log's number.",
    }),
  })
  .meta({ id: "AuditEntry" });

export const trailAnswer = z.array(entryAnswer).meta({ description: "Everything about one subject, oldest first." });

export const entriesAnswer = z.object({
  texts: z.array(z.string()).meta({
    description: "The entries in order, each as the exact text that is hashed into the tree; JSON in itself.",
  }),
  size: countNumber.meta({ description: "How many entries the log has." }),
});
