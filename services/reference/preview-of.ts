// What a dry run says of limits and headroom, or why that cannot be said now: a dry run without it is worth more than none.
import { Fault } from "../../contracts/src/fault.ts";
import type { LimitsPreview } from "../../contracts/src/generated/svc/v1/riskengine.ts";
import type { LimitPreviews } from "../../ports/peers.ts";

interface Previewed {
  readonly preview?: LimitsPreview;
  readonly preview_missing?: string;
}

export async function previewOf(
  { limitPreviews }: { readonly limitPreviews: LimitPreviews },
  asked: Parameters<LimitPreviews["preview"]>[0],
): Promise<Previewed> {
  try {
    return { preview: await limitPreviews.preview(asked) };
  } catch (thrown) {
    if (!(thrown instanceof Fault) || thrown.retry === "never") throw thrown;
    return { preview_missing: `The risk engine does not say it now: ${thrown.message}` };
  }
}
