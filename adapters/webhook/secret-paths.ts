// Where a fund's webhook secret is kept, as plain text so that other tools can write it, and beside it what a rotation must remember: which secrets
// before it are still good, and until when. Both lie in the secrets store and nowhere else.
import { z } from "zod";
import { parseJson } from "../../contracts/src/parse-json.ts";
import { instantText } from "../../contracts/src/records/fields.ts";

/** A segment as the secrets store takes it; a fund of another name has no secret. */
const segment = /^[A-Za-z0-9._-]{0,127}[A-Za-z0-9_-]$/;

export interface SecretPaths {
  readonly secret: string;
  readonly rotation: string;
}

/** `folder` is `secret/<prefix>`. */
export function secretPaths(folder: string, fundId: string): SecretPaths | undefined {
  if (!segment.test(fundId)) return undefined;
  return { secret: `${folder}/tradingview/${fundId}`, rotation: `${folder}/tradingview-rotation/${fundId}` };
}

const rotationForm = z.object({
  /** When the newest was made here, and as which version. */
  rotated_at: instantText,
  version: z.int(),
  previous: z.array(z.object({ value: z.string(), valid_until: instantText })),
});

export type Rotation = z.infer<typeof rotationForm>;

/** What cannot be read keeps no earlier secret good. */
export function readRotation(text: string | undefined): Rotation | undefined {
  if (text === undefined) return undefined;
  try {
    return rotationForm.safeParse(parseJson(text)).data;
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined;
    throw thrown;
  }
}
