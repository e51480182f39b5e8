// Answers dry runs: what a change of limits or of reference data would make of the limits and the headroom of the funds that it touches. One is answered after the
// other, and between its symbols the engine goes on deciding.
import { Fault } from "../../../contracts/src/fault.ts";
import type {
  LimitsPreview,
  PreviewedFund,
  PreviewedHeadroom,
  PreviewLimitsRequest,
} from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import * as instant from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { type ReferenceContents, referenceContents, referenceKind } from "../../../contracts/src/records/reference.ts";
import type { Engine } from "../../../core/engine/engine.ts";
import { type Proposal, previewed, previewFund, previewRooms } from "../../../core/engine/preview/preview.ts";
import { type Touched, touchedBy, wholeFund } from "../../../core/engine/preview/touched.ts";
import type { EngineState } from "../../../core/engine/state.ts";
import { compileEnvelope, readEnvelope } from "../../../core/envelope/envelope.ts";
import type { DeniedAnswer } from "../../../ports/rpc.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { breathe } from "../../shared/waiting.ts";
import type { ReferenceWatch } from "../reference-watch.ts";

interface PreviewOptions {
  readonly ports: Pick<ServicePorts, "clock" | "timers" | "referenceData">;
  readonly engine: Pick<Engine, "read">;
  readonly reference: Pick<ReferenceWatch, "refresh">;
}

interface Asked extends Proposal {
  readonly touched: (state: EngineState) => Touched;
}

/** More would wait for longer than anybody waits for an answer. */
const waitingMax = 8;

export function createPreviewLimits({ ports, engine, reference }: PreviewOptions) {
  const { clock, timers, referenceData } = ports;
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  async function preview(request: PreviewLimitsRequest): Promise<LimitsPreview | DeniedAnswer> {
    await reference.refresh();
    const now = await referenceData.read();
    const asked = askedBy(request, now);
    if ("denial" in asked) return asked;
    const { touched, both } = engine.read((state) => {
      const found = asked.touched(state);
      const fundIds = found.funds.map(({ fundId }) => fundId);
      return { touched: found, both: previewed(state, fundIds, now, asked) };
    });
    const at = clock.now();
    const funds: PreviewedFund[] = [];
    for (const fund of touched.funds) {
      await breathe(timers);
      const told = previewFund(both, fund, at);
      const headroom: PreviewedHeadroom[] = [];
      for (const symbol of fund.symbols) {
        await breathe(timers);
        headroom.push(...previewRooms(both, fund.fundId, symbol, at));
      }
      funds.push({ ...told, headroom });
    }
    return { funds, more: touched.more, as_of: instant.format(at) };
  }

  return async (request: PreviewLimitsRequest): Promise<LimitsPreview | DeniedAnswer> => {
    if (waiting === waitingMax) {
      throw new Fault("RESOURCE_EXHAUSTED", `${waitingMax} previews are being made. Ask again in a moment.`, {
        retry: "later",
      });
    }
    waiting += 1;
    const turn = last
      .then(() => preview(request))
      .finally(() => {
        waiting -= 1;
      });
    last = turn.catch(() => undefined);
    return turn;
  };
}

function askedBy(
  { envelope, kind, content_json: json }: PreviewLimitsRequest,
  now: ReferenceContents,
): Asked | DeniedAnswer {
  if (envelope !== undefined) {
    const read = readEnvelope(envelope);
    if (!("record" in read)) return { denial: read };
    const proposed = compileEnvelope(read.record);
    const touched = (state: EngineState): Touched => ({ funds: [wholeFund(state, proposed.fundId)], more: false });
    return { contents: now, envelope: proposed, touched };
  }
  const named = referenceKind.parse(kind);
  const after: ReferenceContents = { ...now, [named]: referenceContents[named].parse(parseJson(json)) };
  return {
    contents: after,
    envelope: undefined,
    touched: (state) => touchedBy(state, { kind: named, before: now, after }),
  };
}
