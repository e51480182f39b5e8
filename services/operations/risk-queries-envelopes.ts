// The history of a fund's limits, and what changed between two of them or would change with a proposed one.
import type {
  DiffEnvelopesRequest,
  EnvelopeDiff,
  Envelopes,
  ListEnvelopesRequest,
} from "../../contracts/src/generated/svc/v1/riskdesk.ts";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";
import { loosens } from "../../core/envelope/changes.ts";
import { envelopeChanges, envelopeMessage, readEnvelope } from "../../core/envelope/envelope.ts";
import type { DeniedAnswer } from "../../ports/rpc.ts";
import { previewOf } from "../reference/preview-of.ts";
import {
  countDefault,
  countMax,
  fundId,
  invalid,
  mustBeKnown,
  notFound,
  pagedLimit,
  quoted,
  type RiskQueriesPorts,
} from "./risk-queries-arguments.ts";

export async function listEnvelopes(ports: RiskQueriesPorts, request: ListEnvelopesRequest): Promise<Envelopes> {
  const fund = fundId(request.fund_id);
  const count = countMax(request.count_max, countDefault, pagedLimit);
  const found = await ports.riskQueries.envelopes(fund, count, request.after_version);
  if (found.length === 0) await mustBeKnown(ports, fund);
  return { envelopes: found.map(envelopeMessage) };
}

export async function diffEnvelopes(
  ports: RiskQueriesPorts,
  request: DiffEnvelopesRequest,
): Promise<EnvelopeDiff | DeniedAnswer> {
  const fund = fundId(request.fund_id);
  const { from_version, to_version, proposed } = request;
  if (proposed !== undefined && to_version !== undefined) {
    throw invalid("Both to_version and proposed are given: compare with one of them.");
  }
  if (proposed === undefined && to_version === undefined && from_version === undefined) {
    throw invalid("There is nothing to compare with: give from_version, to_version or a proposed envelope.");
  }
  if (proposed === undefined) {
    const [before, after] = [await version(ports, fund, from_version), await version(ports, fund, to_version)];
    return { ...diff(before, after), to_version: after.version };
  }
  if (proposed.fund_id !== "" && proposed.fund_id !== fund) {
    throw invalid(`The proposed envelope is for ${quoted(proposed.fund_id)}: compare it within its own fund.`);
  }
  const read = readEnvelope({ ...proposed, fund_id: fund });
  if (!("record" in read)) return { denial: read };
  // A fund's first limits have no version before them.
  const before = from_version === undefined ? await current(ports, fund) : await version(ports, fund, from_version);
  const compared = diff(before, read.record);
  return { ...compared, ...(await previewOf(ports, { envelope: envelopeMessage(read.record) })) };
}

function diff(before: RiskEnvelope | undefined, after: RiskEnvelope): EnvelopeDiff {
  const changes = envelopeChanges(before, after);
  return {
    fund_id: after.fund_id,
    from_version: before?.version ?? 0,
    changes: changes.map((change) => ({ ...change })),
    loosens: loosens(changes),
  };
}

/** Undefined for a fund that has none yet. */
async function current(ports: RiskQueriesPorts, fund: string): Promise<RiskEnvelope | undefined> {
  const found = await ports.riskQueries.envelope(fund, undefined);
  if (found === undefined) await mustBeKnown(ports, fund);
  return found;
}

/** One version of a fund's envelope, the current one when none is named. */
async function version(ports: RiskQueriesPorts, fund: string, wanted: number | undefined): Promise<RiskEnvelope> {
  const found = await ports.riskQueries.envelope(fund, wanted);
  if (found !== undefined) return found;
  await mustBeKnown(ports, fund);
  throw notFound(`The fund ${quoted(fund)} has no envelope${wanted === undefined ? "" : ` of version ${wanted}`}.`);
}
