// The repositories of single services in a transaction of the memory store: limits, halts, valuations, reference data, holdings. What
// was written is kept aside until the transaction commits; rows are locked as the database locks them.

import { add } from "../../../contracts/src/decimal.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import { parse } from "../../../contracts/src/instant.ts";
import type { RiskEnvelope } from "../../../contracts/src/records/envelope.ts";
import type {
  ConfigurationRecords,
  ConfigurationValue,
  ReferenceRecords,
  ReferenceVersion,
  RiskRecords,
  TreasuryRecords,
} from "../../../ports/store.ts";
import { copyOf } from "../copy-of.ts";
import type { RecordTools } from "../layered-map.ts";
import type { RiskTables } from "../risk-tables.ts";

function exists(what: string): Fault {
  return new Fault("STORE_CONFLICT", `${what} exists already`, { retry: "now" });
}

/** Versions only ever grow in number: what leaves is copied where it leaves. */
const uncopied = { copies: false };

/** The one with the highest version: they need not come in order. */
function newestOf<One extends { readonly version: number }>(versions: readonly One[]): One | undefined {
  let newest: One | undefined;
  for (const one of versions) if (newest === undefined || one.version > newest.version) newest = one;
  return newest;
}

export function riskChanges(tables: RiskTables, { inTurn, lock, table, list, atCommit }: RecordTools): RiskRecords {
  const envelopes = table("risk_envelope", tables.envelopes, uncopied);
  const halts = list("halt", tables.halts);
  const lifted = table("halt", tables.liftedHalts);
  const navs = table("risk_nav", tables.navs);
  let epochs = 0;
  atCommit(() => {
    tables.haltEpoch += epochs;
  });
  const nextEpoch = (): number => {
    epochs += 1;
    return tables.haltEpoch + epochs;
  };
  const versionsOf = (fundId: string): readonly RiskEnvelope[] => envelopes.get(fundId) ?? [];
  return {
    lockEnvelope: (fundId) =>
      inTurn(async () => {
        await lock(`envelope ${fundId}`);
        return copyOf(newestOf(versionsOf(fundId)));
      }),
    putEnvelope: (envelope) =>
      inTurn(async () => {
        await lock(`envelope ${envelope.fund_id}`);
        if (versionsOf(envelope.fund_id).some((one) => one.version === envelope.version)) {
          throw exists(`version ${envelope.version} of the envelope of ${envelope.fund_id}`);
        }
        envelopes.set(envelope.fund_id, [...versionsOf(envelope.fund_id), copyOf(envelope)]);
      }),
    lockHalts: () =>
      inTurn(async () => {
        await lock("halts");
        return { epoch: tables.haltEpoch + epochs, active: halts.all() };
      }),
    latchHalt: (halt) =>
      inTurn(async () => {
        await lock("halts");
        const known = halts.all().find((one) => one.halt_id === halt.halt_id) ?? lifted.get(halt.halt_id);
        if (known !== undefined) return known;
        const latched = { ...copyOf(halt), epoch: nextEpoch() };
        halts.push(latched);
        return latched;
      }),
    liftHalts: (haltIds) =>
      inTurn(async () => {
        await lock("halts");
        const known = new Map(halts.all().map((halt) => [halt.halt_id, halt]));
        const missing = haltIds.find((id) => !known.has(id));
        if (missing !== undefined) {
          throw new Fault("STORE_CONFLICT", `the halt ${missing} is not in force`, { retry: "now" });
        }
        for (const [id, halt] of known) if (haltIds.includes(id)) lifted.set(id, halt);
        halts.remove(({ halt_id: id }) => haltIds.includes(id));
        return nextEpoch();
      }),
    putNav: (nav, believedUntil) =>
      inTurn(async () => {
        await lock(`nav ${nav.fund_id}`);
        const known = navs.get(nav.fund_id);
        if (known !== undefined && parse(known.as_of) >= parse(nav.as_of)) {
          const isLater = nav.sequence === undefined || nav.sequence > (known.sequence ?? 0);
          if (parse(known.as_of) <= believedUntil || !isLater) return false;
        }
        navs.set(nav.fund_id, nav);
        return true;
      }),
  };
}

export function referenceChanges(tables: RiskTables, { inTurn, lock, table, atCommit }: RecordTools): ReferenceRecords {
  const kinds = table("reference_version", tables.references, uncopied);
  const requests = table("reference_request", tables.referenceRequests);
  const versionsOf = (kind: ReferenceVersion["kind"]): readonly ReferenceVersion[] => kinds.get(kind) ?? [];
  return {
    lock: (kind) =>
      inTurn(async () => {
        await lock(`reference ${kind}`);
        return copyOf(newestOf(versionsOf(kind)));
      }),
    atSending: () =>
      inTurn(async () => {
        const versionOf = async (kind: ReferenceVersion["kind"]): Promise<number> => {
          await lock(`reference ${kind}`);
          return newestOf(versionsOf(kind))?.version ?? 0;
        };
        // In the order in which a change locks them.
        return { instruments: await versionOf("instruments"), funds: await versionOf("funds") };
      }),
    asOf: (kind, at) =>
      inTurn(async () => {
        const versions = [...versionsOf(kind)].sort((one, other) => one.version - other.version);
        return copyOf(versions.findLast(({ setAt }) => setAt <= at) ?? versions[0]);
      }),
    ask: (request) => inTurn(async () => requests.set(request.requestId, request)),
    asked: (requestId) => inTurn(async () => requests.get(requestId)),
    put: (version) =>
      inTurn(async () => {
        await lock(`reference ${version.kind}`);
        if (versionsOf(version.kind).some((one) => one.version === version.version)) {
          throw exists(`version ${version.version} of the reference data ${version.kind}`);
        }
        kinds.set(version.kind, [...versionsOf(version.kind), copyOf(version)]);
        atCommit(() => {
          tables.referenceChange += 1;
        });
      }),
  };
}

/** The row of a holding, for whoever locks it. */
export function holdingRow(fundId: string, symbol: string): string {
  return `holding ${JSON.stringify([fundId, symbol])}`;
}

export function treasuryChanges(tables: RiskTables, { inTurn, lock, table }: RecordTools): TreasuryRecords {
  const holdings = table("treasury_holding", tables.holdings);
  return {
    add: (fundId, symbol, quantity) =>
      inTurn(async () => {
        const key = JSON.stringify([fundId, symbol]);
        await lock(holdingRow(fundId, symbol));
        const held = holdings.get(key);
        holdings.set(key, { fundId, symbol, quantity: held === undefined ? quantity : add(held.quantity, quantity) });
      }),
    holdings: () => inTurn(async () => holdings.sorted()),
  };
}

export function configurationChanges(tables: RiskTables, { inTurn, lock, table }: RecordTools): ConfigurationRecords {
  const services = table("configuration_value", tables.configuration);
  const valuesOf = (service: string): Map<string, ConfigurationValue> => services.get(service) ?? new Map();
  return {
    lock: (service) =>
      inTurn(async () => {
        await lock(`configuration ${service}`);
        return [...valuesOf(service).values()].sort((one, other) => (one.path < other.path ? -1 : 1));
      }),
    put: (service, values) =>
      inTurn(async () => {
        await lock(`configuration ${service}`);
        const all = valuesOf(service);
        for (const value of values) all.set(value.path, { ...value });
        if (values.length > 0) services.set(service, all);
      }),
    remove: (service, paths) =>
      inTurn(async () => {
        await lock(`configuration ${service}`);
        const all = valuesOf(service);
        const gone = paths.filter((path) => all.delete(path));
        if (gone.length > 0) services.set(service, all);
      }),
  };
}
