// Steps of orders for a regulator, and since when funds are enabled, in a transaction of the memory store.
import type { FilingStepRecords, FilingSwitch, KeptSettings, KeptStep } from "../../../ports/filing-steps.ts";
import type { RecordTools } from "../layered-map.ts";

export interface FilingStepTables {
  readonly steps: Map<string, KeptStep>;
  readonly switches: Map<string, FilingSwitch>;
  readonly settings: Map<string, KeptSettings>;
}

export function filingStepTables(): FilingStepTables {
  return { steps: new Map(), switches: new Map(), settings: new Map() };
}

const compareText = (one: string, other: string): number => (one === other ? 0 : one < other ? -1 : 1);
const inTheirOrder = ({ step: one }: KeptStep, { step: other }: KeptStep): number =>
  one.at - other.at || compareText(one.id, other.id);

export function filingStepChanges(tables: FilingStepTables, { inTurn, table }: RecordTools): FilingStepRecords {
  const steps = table("filing_step", tables.steps);
  const switches = table("filing_switch", tables.switches);
  const settings = table("filing_settings", tables.settings);
  return {
    keep: (kept) =>
      inTurn(async () => {
        const key = JSON.stringify([kept.fundId, kept.orderId, kept.step.id]);
        if (!steps.has(key)) steps.set(key, kept);
      }),
    ofOrder: (fundId, orderId, countMax) =>
      inTurn(async () => {
        const own = steps.filter((kept) => kept.fundId === fundId && kept.orderId === orderId);
        return own.sort(inTheirOrder).slice(0, countMax);
      }),
    partsOf: (fundId, orderId, countMax) =>
      inTurn(async () => {
        const parts = steps.filter((kept) => kept.fundId === fundId && kept.parentOrderId === orderId);
        return [...new Set(parts.map((kept) => kept.orderId))].sort(compareText).slice(0, countMax);
      }),
    switchTo: (to) => inTurn(async () => switches.set(JSON.stringify([to.regime, to.fundId, to.at]), to)),
    switchesOf: (regime, fundId, countMax) =>
      inTurn(async () => {
        const own = switches.filter((one) => one.regime === regime && one.fundId === fundId);
        return own.sort((one, other) => one.at - other.at).slice(-countMax);
      }),
    keepSettings: (kept) => inTurn(async () => settings.set(JSON.stringify([kept.fundId, kept.at]), kept)),
    settingsOf: (fundId, countMax) =>
      inTurn(async () => {
        const own = settings.filter((kept) => kept.fundId === fundId);
        return own.sort((one, other) => one.at - other.at).slice(-countMax);
      }),
    switches: () =>
      inTurn(async () => {
        const newest = new Map<string, FilingSwitch>();
        for (const one of switches.filter(() => true).sort((left, right) => left.at - right.at)) {
          newest.set(JSON.stringify([one.regime, one.fundId]), one);
        }
        return [...newest].sort(([one], [other]) => compareText(one, other)).map(([, one]) => one);
      }),
  };
}
