// The repositories of single services in a transaction of the memory store: limits, halts, valuations, reference data, holdings. What
// was written is kept aside until the transaction commits; rows are locked as the database locks them.
import { add } from "../../../contracts/src/decimal.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import { parse } from "../../../contracts/src/instant.ts";
import type { RiskEnvelope } from "../../../contracts/src/records/envelope.ts";
import type { NavUpdated } from "../../../contracts/src/records/fund.ts";
import type { ActiveHalt } from "../../../contracts/src/records/halt.ts";
import type {
  ConfigurationRecords,
  ConfigurationValue,
  ReferenceRecords,
  ReferenceVersion,
  RiskRecords,
  TreasuryRecords,
} from "../../../ports/store.ts";
import type { Holding, RiskTables } from "../risk-tables.ts";

export interface RecordChanges {
  readonly risk: RiskRecords;
  readonly reference: ReferenceRecords;
  readonly treasury: TreasuryRecords;
  readonly configuration: ConfigurationRecords;
  /** Makes everything durable in one step. */
  apply(): void;
}

export interface RecordTools {
  /** One operation at a time. */
  readonly inTurn: <T>(operation: () => Promise<T>) => Promise<T>;
  readonly lock: (row: string) => Promise<void>;
}

export function recordChanges(tables: RiskTables, tools: RecordTools): RecordChanges {
  const risk = riskChanges(tables, tools);
  const reference = referenceChanges(tables, tools);
  const treasury = treasuryChanges(tables, tools);
  const configuration = configurationChanges(tables, tools);
  return {
    risk: risk.records,
    reference: reference.records,
    treasury: treasury.records,
    configuration: configuration.records,
    apply() {
      risk.apply();
      reference.apply();
      treasury.apply();
      configuration.apply();
    },
  };
}

interface Changes<Records> {
  readonly records: Records;
  apply(): void;
}

function exists(what: string): Fault {
  return new Fault("STORE_CONFLICT", `${what} exists already`, { retry: "now" });
}

/** The one with the highest version: they need not come in order. */
function newestOf<One extends { readonly version: number }>(versions: readonly One[]): One | undefined {
  let newest: One | undefined;
  for (const one of versions) if (newest === undefined || one.version > newest.version) newest = one;
  return newest;
}

function riskChanges(tables: RiskTables, { inTurn, lock }: RecordTools): Changes<RiskRecords> {
  const envelopes: RiskEnvelope[] = [];
  const halts: ActiveHalt[] = [];
  const lifted = new Set<string>();
  let lifts = 0;
  const inForce = (): ActiveHalt[] => [...tables.halts, ...halts].filter(({ halt_id: id }) => !lifted.has(id));
  const epoch = (): number => tables.haltEpoch + halts.length + lifts;
  const navs = new Map<string, NavUpdated>();
  const versionsOf = (fundId: string): RiskEnvelope[] => [
    ...(tables.envelopes.get(fundId) ?? []),
    ...envelopes.filter((one) => one.fund_id === fundId),
  ];
  const records: RiskRecords = {
    lockEnvelope: (fundId) =>
      inTurn(async () => {
        await lock(`envelope ${fundId}`);
        return structuredClone(newestOf(versionsOf(fundId)));
      }),
    putEnvelope: (envelope) =>
      inTurn(async () => {
        await lock(`envelope ${envelope.fund_id}`);
        if (versionsOf(envelope.fund_id).some((one) => one.version === envelope.version)) {
          throw exists(`version ${envelope.version} of the envelope of ${envelope.fund_id}`);
        }
        envelopes.push(structuredClone(envelope));
      }),
    lockHalts: () =>
      inTurn(async () => {
        await lock("halts");
        return { epoch: epoch(), active: structuredClone(inForce()) };
      }),
    latchHalt: (halt) =>
      inTurn(async () => {
        await lock("halts");
        const known =
          [...tables.halts, ...halts].find((one) => one.halt_id === halt.halt_id) ??
          tables.liftedHalts.get(halt.halt_id);
        if (known !== undefined) return structuredClone(known);
        const latched = { ...structuredClone(halt), epoch: epoch() + 1 };
        halts.push(latched);
        return structuredClone(latched);
      }),
    liftHalts: (haltIds) =>
      inTurn(async () => {
        await lock("halts");
        const known = new Set(inForce().map(({ halt_id: id }) => id));
        const missing = haltIds.find((id) => !known.has(id));
        if (missing !== undefined) {
          throw new Fault("STORE_CONFLICT", `the halt ${missing} is not in force`, { retry: "now" });
        }
        for (const id of haltIds) lifted.add(id);
        lifts += 1;
        return epoch();
      }),
    putNav: (nav, believedUntil) =>
      inTurn(async () => {
        await lock(`nav ${nav.fund_id}`);
        const known = navs.get(nav.fund_id) ?? tables.navs.get(nav.fund_id);
        if (known !== undefined && parse(known.as_of) >= parse(nav.as_of)) {
          const isLater = nav.sequence === undefined || nav.sequence > (known.sequence ?? 0);
          if (parse(known.as_of) <= believedUntil || !isLater) return false;
        }
        navs.set(nav.fund_id, structuredClone(nav));
        return true;
      }),
  };
  return {
    records,
    apply() {
      for (const envelope of envelopes) {
        const versions = tables.envelopes.get(envelope.fund_id) ?? [];
        versions.push(envelope);
        tables.envelopes.set(envelope.fund_id, versions);
      }
      tables.halts.push(...halts);
      tables.haltEpoch += halts.length + lifts;
      for (const halt of tables.halts.filter(({ halt_id: id }) => lifted.has(id))) {
        tables.liftedHalts.set(halt.halt_id, halt);
        tables.halts.splice(tables.halts.indexOf(halt), 1);
      }
      for (const [fundId, nav] of navs) tables.navs.set(fundId, nav);
    },
  };
}

function referenceChanges(tables: RiskTables, { inTurn, lock }: RecordTools): Changes<ReferenceRecords> {
  const written: ReferenceVersion[] = [];
  const versionsOf = (kind: ReferenceVersion["kind"]): ReferenceVersion[] => [
    ...(tables.references.get(kind) ?? []),
    ...written.filter((one) => one.kind === kind),
  ];
  const records: ReferenceRecords = {
    lock: (kind) =>
      inTurn(async () => {
        await lock(`reference ${kind}`);
        return structuredClone(newestOf(versionsOf(kind)));
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
        const versions = versionsOf(kind).sort((one, other) => one.version - other.version);
        return structuredClone(versions.findLast(({ setAt }) => setAt <= at) ?? versions[0]);
      }),
    put: (version) =>
      inTurn(async () => {
        await lock(`reference ${version.kind}`);
        if (versionsOf(version.kind).some((one) => one.version === version.version)) {
          throw exists(`version ${version.version} of the reference data ${version.kind}`);
        }
        written.push(structuredClone(version));
      }),
  };
  return {
    records,
    apply() {
      for (const version of written) {
        const versions = tables.references.get(version.kind) ?? [];
        versions.push(version);
        tables.references.set(version.kind, versions);
      }
      tables.referenceChange += written.length;
    },
  };
}

/** The row of a holding, for whoever locks it. */
export function holdingRow(fundId: string, symbol: string): string {
  return `holding ${JSON.stringify([fundId, symbol])}`;
}

function treasuryChanges(tables: RiskTables, { inTurn, lock }: RecordTools): Changes<TreasuryRecords> {
  const changed = new Map<string, Holding>();
  const keyOf = (fundId: string, symbol: string): string => JSON.stringify([fundId, symbol]);
  const records: TreasuryRecords = {
    add: (fundId, symbol, quantity) =>
      inTurn(async () => {
        const key = keyOf(fundId, symbol);
        await lock(holdingRow(fundId, symbol));
        const held = changed.get(key) ?? tables.holdings.get(key);
        changed.set(key, { fundId, symbol, quantity: held === undefined ? quantity : add(held.quantity, quantity) });
      }),
    holdings: () =>
      inTurn(async () =>
        [...new Map([...tables.holdings, ...changed]).entries()]
          .sort(([one], [other]) => (one < other ? -1 : 1))
          .map(([, holding]) => ({ ...holding })),
      ),
  };
  return {
    records,
    apply() {
      for (const [key, holding] of changed) tables.holdings.set(key, holding);
    },
  };
}

function configurationChanges(tables: RiskTables, { inTurn, lock }: RecordTools): Changes<ConfigurationRecords> {
  const changed = new Map<string, Map<string, ConfigurationValue>>();
  const valuesOf = (service: string): Map<string, ConfigurationValue> =>
    changed.get(service) ?? new Map(tables.configuration.get(service) ?? []);
  const records: ConfigurationRecords = {
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
        changed.set(service, all);
      }),
    remove: (service, paths) =>
      inTurn(async () => {
        await lock(`configuration ${service}`);
        const all = valuesOf(service);
        for (const path of paths) all.delete(path);
        changed.set(service, all);
      }),
  };
  return {
    records,
    apply() {
      for (const [service, values] of changed) tables.configuration.set(service, values);
    },
  };
}
