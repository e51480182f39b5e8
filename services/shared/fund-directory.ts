// Which funds there are, and whose strategies, as they were read last. One that is not found is looked for again before the caller is told so: a halt of a
// fund that is new must not be refused because it is new.
import type { FundReference } from "../../contracts/src/records/reference.ts";
import type { Funds } from "../halts/halt-request.ts";
import type { ServicePorts } from "./service.ts";

export interface FundDirectory extends Funds {
  /** Reads the reference data again unless this fund or strategy is known; an empty name is nobody. */
  find(id: string): Promise<void>;
}

export async function openFundDirectory({
  referenceData,
}: Pick<ServicePorts, "referenceData">): Promise<FundDirectory> {
  let funds: ReadonlyMap<string, FundReference> = new Map();
  let owners: ReadonlyMap<string, FundReference> = new Map();

  async function read(): Promise<void> {
    const reference = await referenceData.read();
    funds = new Map(reference.funds.map((fund) => [fund.fund_id, fund]));
    owners = new Map(reference.funds.flatMap((fund) => fund.strategies.map((strategy) => [strategy, fund] as const)));
  }

  await read();
  return {
    fund: (fundId) => funds.get(fundId),
    fundOfStrategy: (strategyId) => owners.get(strategyId),
    async find(id) {
      if (id !== "" && !funds.has(id) && !owners.has(id)) await read();
    },
  };
}
