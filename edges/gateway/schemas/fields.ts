// The fields that requests and answers of the HTTP API share, each with its bound and the words that OpenAPI shows for it.
import { z } from "zod";
import { type Operation, operations, roles } from "../../../contracts/src/authority.ts";
import { instantText, lineText } from "../../../contracts/src/records/fields.ts";
import { asItIs, typed } from "../../../contracts/src/text/typed.ts";

export const timeText = instantText.meta({
  format: "date-time",
  description: "A time in UTC with microseconds, such as 2026-11-15T13:30:00.000000Z.",
});

export const roleName = z.enum(roles);

/** Every row of the table of authority, by name. */
export const operationName = z.enum(Object.keys(operations) as [Operation, ...Operation[]]);

export const actorText = lineText(256)
  .min(1)
  .meta({ description: "A caller as records name it: `operator:<name>` or `service:<name>`." });

/** Why somebody changes something, in their words; it stands in the record. */
export const reasonLine = typed(lineText(500).min(1))
  .optional()
  .meta({ description: "Why, in your words; it stands in the record." });

export const effectiveWithinMs = z
  .int()
  .min(0)
  .meta({ description: "Every process refuses what was ended at the latest after this many milliseconds." });

/** A wrong word, or none, is refused by whoever does what is asked, and recorded there. */
export const confirmed = (word: string, when = "") =>
  asItIs(z.string().max(100), "a word that is compared")
    .optional()
    .meta({ description: `The word ${word}, as a person typed it${when === "" ? "" : `; needed ${when}`}.` });
