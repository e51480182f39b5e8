// What the routes of funds and reference data take and answer.
import { z } from "zod";
import { atMost } from "../../../contracts/src/bounds/at-most.ts";
import type { Funds, ReferenceDocument } from "../../../contracts/src/generated/svc/v1/platform.ts";
import { tryParse } from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { countNumber } from "../../../contracts/src/records/fields.ts";
import { fundStatus } from "../../../contracts/src/records/fund.ts";
import { referenceKind } from "../../../contracts/src/records/reference.ts";
import { asItIs, typed } from "../../../contracts/src/text/typed.ts";
import { plain } from "../ask-service.ts";
import { messageAnswer } from "../declared/answers.ts";
import { mostIn } from "../declared/most.ts";
import { proofText } from "./second-factor.ts";

export const fundsAnswer = z.array(
  // A fund that was never valued has no value to tell.
  fundStatus
    .extend({
      nav: fundStatus.shape.nav.optional(),
      nav_at: fundStatus.shape.nav_at.optional(),
    })
    .meta({ id: "Fund" }),
);

/** On the wire a fund that was never valued is worth nothing since the beginning of time; in JSON it has no value. */
export function fundBody({ nav, nav_at, ...fund }: Funds["funds"][number]): object {
  const valuedAt = tryParse(nav_at);
  return valuedAt === undefined || valuedAt === 0 ? fund : { ...fund, nav, nav_at };
}

export const kindParams = z.strictObject({
  kind: referenceKind.meta({ description: "Which kind of reference data." }),
});

/** As many as fit: none is shorter than 26 bytes. */
const rowsMax = 40_000;
/** A calendar has its holidays in one record. */
const rowMost = { any: { values: 100_000, characters: mostIn("ReferenceDocument", "content_json") } };
const contentText = "The whole content of the kind; what is not in it is gone.";

export const setReferenceDataBody = z.strictObject({
  version: countNumber.meta({ description: "The current version plus 1; anything else is a conflict." }),
  // Which records a kind has is for its service to say: here they are only counted, while they are read.
  content: asItIs(
    atMost(z.array(atMost(z.record(z.string(), z.unknown()), rowMost)), { entries: rowsMax }),
    "its handler knows what of it is new",
  ).meta({ description: contentText }),
  reason: typed(z.string().max(10_000))
    .optional()
    .meta({ description: "Why, in your words; it stands in the record." }),
  step_up_proof: proofText.optional().meta({
    description:
      "A proof of your second factor for SetReferenceData with kind, version, hash (SHA-256 of the content with its keys sorted and without spaces) and reason, where the change loosens.",
  }),
  dry_run: z.boolean().optional().meta({
    description:
      "Only say what the change would do: it is refused as the change would be, but needs no reason and no proof.",
  }),
});

export const referenceAnswer = z.object({
  kind: referenceKind,
  version: countNumber,
  content: z.array(z.record(z.string(), z.unknown())),
  reason: z.string(),
  set_by: z.string().optional(),
  set_at: z.string().optional(),
  hash: z.string().optional().meta({ description: "SHA-256 of the content." }),
  pending: z.boolean().optional().meta({ description: "Nothing has changed yet: a second person must sign." }),
  request_id: z.string().optional().meta({ description: "What the second person signs." }),
  expires_at: z.string().optional().meta({ description: "Until when they may." }),
  cosigned_by: z.string().optional().meta({ description: "Who signed it." }),
  dry_run: z.boolean().optional().meta({ description: "Nothing was changed." }),
  would_change: messageAnswer("ReferenceDryRun").optional().meta({ description: "What the change would do." }),
});

/** The document with its content opened, which was JSON all the way and need not be made so. */
export function referenceJson({ content_json, ...rest }: ReferenceDocument): object {
  return { ...plain(rest), content: parseJson(content_json) as unknown };
}
