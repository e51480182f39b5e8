// The risk queries: they answer what people ask about risk after the fact. They read what the engine stored and never ask the engine, so no
// question can make a check late; what they say about a denial is made by the same function as what was published about it.
import type { OrderRejection } from "../../contracts/src/generated/svc/v1/order.ts";
import type {
  DecisionRecord,
  DecisionRecords,
  DiffEnvelopesRequest,
  GetDecisionsRequest,
  ListEnvelopesRequest,
  ListRejectionsRequest,
  Rejections,
  ReplayEnvelopeRequest,
} from "../../contracts/src/generated/svc/v1/riskdesk.ts";
import { partsOf, refusalOf, rejectionOf } from "../../core/state/rejection.ts";
import type { RpcCall, RpcService } from "../../ports/rpc.ts";
import {
  countDefault,
  countMax,
  decisionId,
  fundId,
  mustBeKnown,
  notFound,
  orderId,
  quoted,
  type RiskQueriesPorts,
  sinceHours,
} from "./risk-queries-arguments.ts";
import { diffEnvelopes, listEnvelopes } from "./risk-queries-envelopes.ts";
import { fromRecord } from "./risk-queries-records.ts";
import { replayEnvelope } from "./risk-queries-replay.ts";
import { takeTurns } from "./take-turns.ts";

/** An order is asked about once, and again for each amendment and each repetition of its key. */
const decisionsPerOrderMax = 200;
const noBytes = new Uint8Array(0);

/** A replay takes seconds; as many more may wait for one of people's, and for one of machines'. */
const replaysWaitingMax = 2;
const reportsWaitingMax = 16;

export function riskQueries(ports: RiskQueriesPorts): RpcService {
  const forPeople = takeTurns(replaysWaitingMax, "replays of limits");
  const forReports = takeTurns(reportsWaitingMax, "replays of limits");
  return {
    name: "RiskDesk",
    handlers: {
      ListRejections: (request: ListRejectionsRequest) => listRejections(ports, request),
      GetDecisions: (request: GetDecisionsRequest) => getDecisions(ports, request),
      ListEnvelopes: (request: ListEnvelopesRequest) => listEnvelopes(ports, request),
      DiffEnvelopes: (request: DiffEnvelopesRequest) => diffEnvelopes(ports, request),
      ReplayEnvelope: (request: ReplayEnvelopeRequest, call: RpcCall) => {
        const inTurn = call.identity.kind === "service" ? forReports : forPeople;
        return inTurn(call.signal, () => replayEnvelope(ports, request, call));
      },
    },
  };
}

async function listRejections(ports: RiskQueriesPorts, request: ListRejectionsRequest): Promise<Rejections> {
  const { fund_id, after_decision_id } = request;
  const fund = fund_id === undefined ? undefined : fundId(fund_id);
  const wanted = countMax(request.count_max, countDefault);
  const found = await ports.riskQueries.rejections({
    since: sinceHours(request.hours, ports.clock.now()),
    // One more than wanted tells whether there are more.
    countMax: wanted + 1,
    ...(fund !== undefined && { fundId: fund }),
    ...(after_decision_id !== undefined && { afterDecisionId: decisionId(after_decision_id) }),
  });
  if (found.length === 0 && fund !== undefined) await mustBeKnown(ports, fund);
  const rejections = found
    .slice(0, wanted)
    .map((stored) => ("refusedAt" in stored ? refusalOf(stored) : fromRecord(stored, rejection)));
  return { rejections, more: found.length > wanted };
}

async function getDecisions(ports: RiskQueriesPorts, request: GetDecisionsRequest): Promise<DecisionRecords> {
  const order = orderId(request.order_id);
  const found = await ports.riskQueries.decisionsOf(order, decisionsPerOrderMax);
  if (found.length === 0) throw notFound(`Nothing was decided about an order ${quoted(order)}.`);
  return { records: found.map((stored) => fromRecord(stored, withoutInputs)) };
}

function rejection(record: DecisionRecord): OrderRejection {
  const { order, decision } = partsOf(record);
  return { ...rejectionOf(order, decision), source: "riskengine" };
}

/** The inputs are the engine's own form: replay reads them, people do not. */
function withoutInputs(record: DecisionRecord): DecisionRecord {
  return { ...record, inputs: noBytes };
}
