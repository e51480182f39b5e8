// What a machine's token is answered, by whose that is which it names: every operation and every event that programs outside publish. Made from the
// declarations; docs/authority.md shows it, and adapters/grpc/guard/fund-guard.test.ts and acceptance/ownership.ci.test.ts carry it out.
import { type Operation, operations, whoseOf } from "../../contracts/src/authority.ts";
import { foreignPublishers } from "../../contracts/src/foreign-events.ts";
import { namedByProcedures, sharedRows } from "../../contracts/src/generated/authority.ts";
import { isFundPath, type Whose } from "../../contracts/src/ownership/whose.ts";
import { eventByName } from "../../contracts/src/subjects.ts";

/** "taken" is what it would be without anybody's funds or orders; "left out" is an answer without the rows that are not the token's. */
export type Cell =
  | "taken"
  | "left out"
  | "FUND_NOT_YOURS"
  | "ORDER_NOT_YOURS"
  | "EVENT_FUND_NOT_YOURS"
  | "EVENT_ORDER_NOT_YOURS"
  | "EVENT_VALUE_NOT_YOURS";

export interface MatrixRow {
  readonly name: string;
  readonly whose: readonly Whose[];
  readonly own: Cell;
  /** Of the token's fund, and asked for, valued or priced by another source; absent where nothing guards it yet. */
  readonly anotherSources: Cell | undefined;
  readonly anotherFunds: Cell;
}

export function operationRows(): readonly MatrixRow[] {
  const names = (Object.keys(operations) as Operation[]).filter((name) => whoseOf(name).length > 0);
  return names.map((name) => {
    const whose = whoseOf(name);
    if (whose.includes("every_fund")) {
      return { name, whose, own: refused, anotherSources: refused, anotherFunds: refused };
    }
    const anotherFunds = whose.includes("fund") ? ofAnotherFund(name) : "taken";
    return { name, whose, own: "taken", anotherSources: ofAnotherSource(name), anotherFunds };
  });
}

const refused = "FUND_NOT_YOURS";

function ofAnotherSource(operation: Operation): Cell {
  if (!whoseOf(operation).includes("asker")) return "taken";
  return operations[operation].reads ? "left out" : "ORDER_NOT_YOURS";
}

/** Its document of funds is of all of them: it is given as a whole or not at all. */
const givenAsAWhole: ReadonlySet<Operation> = new Set<Operation>(["GetReferenceData"]);

/** Rows are left out where a list cannot be asked for a fund. */
function ofAnotherFund(operation: Operation): Cell {
  if (givenAsAWhole.has(operation)) return refused;
  const procedures = Object.entries(namedByProcedures).filter(
    ([procedure]) => (sharedRows[procedure] ?? procedure.slice(procedure.indexOf("/") + 1)) === operation,
  );
  const asked = procedures.flatMap(([, { request }]) => request.filter(isFundPath));
  const answered = procedures.flatMap(([, { answer }]) => answer.filter(isFundPath));
  const isList = answered.length > 0 && answered.every((path) => path.includes("[]"));
  return asked.length === 0 && operations[operation].reads && isList ? "left out" : refused;
}

export function eventRows(): readonly MatrixRow[] {
  return foreignPublishers
    .flatMap(({ subjects }) => subjects)
    .map((name) => {
      const whose = eventByName(name)?.whose ?? [];
      const anotherFunds = whose.includes("fund") ? "EVENT_FUND_NOT_YOURS" : "taken";
      return { name, whose, own: "taken", anotherSources: eventOfAnotherSource(whose), anotherFunds };
    });
}

function eventOfAnotherSource(whose: readonly Whose[]): Cell | undefined {
  if (whose.includes("asker")) return "EVENT_ORDER_NOT_YOURS";
  return whose.includes("valuer") ? "EVENT_VALUE_NOT_YOURS" : undefined;
}
