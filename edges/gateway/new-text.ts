// Reference data is sent as a whole: of what a person sends only the texts that do not stand in the version before are new. Those are refused for a
// character that cannot be seen where the change carries the proof of one that loosens, and marked where it may tighten. The version before is asked for
// only where there is such a character at all.
import { Fault } from "../../contracts/src/fault.ts";
import type { ReferenceDocument } from "../../contracts/src/generated/svc/v1/platform.ts";
import { parseJson } from "../../contracts/src/parse-json.ts";
import { mapTexts, marked, unseenIn } from "../../contracts/src/text/typed.ts";
import type { HttpRequest } from "../../ports/http.ts";
import { askDeclared } from "./declared/route.ts";
import type { GatewayParts } from "./parts.ts";

type Rows = readonly Readonly<Record<string, unknown>>[];

/** The content as JSON, as it goes on. */
export async function judgedContent(
  parts: Pick<GatewayParts, "services">,
  request: HttpRequest,
  { kind, content, loosens }: { readonly kind: string; readonly content: Rows; readonly loosens: boolean },
): Promise<string> {
  const sent = JSON.stringify(content);
  if (request.identity?.kind !== "operator" || !mayBeUnseen(sent)) return sent;
  const kept = await keptTexts(parts, request, kind);
  const judged = mapTexts(content, (text, path) => {
    const wrong = kept.has(text) ? undefined : unseenIn(text);
    if (wrong === undefined) return text;
    if (!loosens) return marked(text);
    const place = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
    throw new Fault("INVALID_ARGUMENT", `body.content${place}: expected ${wrong}.`, { retry: "never" });
  });
  return JSON.stringify(judged);
}

/** One look at all of it instead of one at each text: control characters stand there as escapes, and everything else as it is. */
function mayBeUnseen(json: string): boolean {
  return /\\[bfnrtu]/.test(json) || unseenIn(json) !== undefined;
}

/** Empty where nothing was kept yet. */
async function keptTexts(
  parts: Pick<GatewayParts, "services">,
  request: HttpRequest,
  kind: string,
): Promise<ReadonlySet<string>> {
  const kept = new Set<string>();
  const outcome = await askDeclared<ReferenceDocument>("getReferenceData", parts, request, { kind });
  if (outcome.ok) {
    mapTexts(parseJson(outcome.value.content_json), (text) => {
      kept.add(text);
      return text;
    });
  }
  return kept;
}
