// Up to where a foreign publisher's events were heard, so that it knows from where to send again after a crash of its own, of ours or of the bus.
import { Fault } from "../../../contracts/src/fault.ts";
import { loginOfSource } from "../../../contracts/src/foreign-events.ts";
import type { ForeignPosition, ForeignPositionRequest } from "../../../contracts/src/generated/svc/v1/riskengine.ts";
import { foreignKinds, rangeText } from "../../../core/foreign/numbering.ts";
import type { RpcCall } from "../../../ports/rpc.ts";
import { line } from "../../shared/one-line.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { ReferenceWatch } from "../reference-watch.ts";

export function createForeignPosition(
  { store }: Pick<ServicePorts, "store">,
  reference: Pick<ReferenceWatch, "fund" | "refresh">,
) {
  return async (
    { source: asked, fund_id: fundId }: ForeignPositionRequest,
    { identity }: Pick<RpcCall, "identity">,
  ): Promise<ForeignPosition> => {
    const source = asked || identity.name;
    // Of a login of NATS whoever has a token may ask, because NATS itself answers no such question.
    const isLogin = loginOfSource(source) !== undefined;
    if (identity.kind === "service" && source !== identity.name && !isLogin) {
      const own = `A service token asks about its own events (${identity.name}) or those of a NATS login, not about ${JSON.stringify(line(source, 128))}.`;
      throw new Fault("PERMISSION_DENIED", own, { retry: "never" });
    }
    if (reference.fund(fundId) === undefined) await reference.refresh();
    if (reference.fund(fundId) === undefined) {
      throw new Fault("NOT_FOUND", `There is no fund ${JSON.stringify(line(fundId, 128))}.`, { retry: "never" });
    }
    const kept = await store.transact("risk.foreign-look", (unit) => unit.foreign.positions(source, fundId));
    const positions = foreignKinds.map((kind) => {
      const position = kept.find((one) => one.kind === kind);
      const { last, missing = [], refused = [] } = position ?? {};
      return { kind, last_sequence: last, missing: missing.map(rangeText), refused: [...refused] };
    });
    return { source, fund_id: fundId, positions };
  };
}
