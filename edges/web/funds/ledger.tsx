// The ledger of a fund, entry by entry, and the booking of what flows in or out.

import { useState } from "react";
import type { Client } from "../../client/src/types.ts";
import { amount } from "../../words/figures.ts";
import { shell } from "../../words/shell.ts";
import type { DangerAsk, Typed } from "../danger/ask.ts";
import { audited } from "../danger/audited.ts";
import { useDanger } from "../danger/danger-dialog.tsx";
import type { Lists } from "../data/lists.ts";
import { useList } from "../data/use-list.ts";
import { useDeskSearch, useRange } from "../frame/use-search.ts";
import type { Fund } from "../model/halted.ts";
import { utcText } from "../model/moments.ts";
import { isWithin, rangeText } from "../model/range.ts";
import { type Column, DataTable } from "../panels/data-table.tsx";
import { grouped } from "../panels/figures.tsx";
import { NoFund, Panel } from "../panels/panel.tsx";

type Entry = Lists["ledger"][number];

const columns: readonly Column<Entry>[] = [
  { id: "at", head: "At", unit: "UTC", by: (one) => one.at, cell: (one) => utcText(one.at) },
  { id: "kind", head: "Kind", by: (one) => one.kind },
  {
    id: "postings",
    head: "Postings",
    by: (one) =>
      one.postings.map(({ account, amount: of, currency }) => `${account} ${amount(of)} ${currency}`).join("; "),
  },
  { id: "by", head: "By", by: (one) => one.booked_by },
  { id: "reason", head: "Reason", by: (one) => one.reason },
  { id: "entry", head: "Entry", by: (one) => one.entry_id, cell: (one) => <code>{one.entry_id}</code> },
];

export function Ledger() {
  const search = useDeskSearch();
  const funds = useList("funds");
  const fund =
    funds.data?.find(({ fund_id }) => fund_id === search.fund) ??
    (search.fund === undefined ? funds.data?.[0] : undefined);
  const ledger = useList("ledger", { fund: fund?.fund_id }, fund !== undefined);
  const range = useRange();
  const rows = (ledger.data ?? []).filter(({ at }) => isWithin(at, range));
  return (
    <Panel
      name="ledger"
      title={`Ledger${fund === undefined ? "" : ` of ${fund.fund_id}`}, ${rangeText(search, "newest")}`}
      wide
      reads={fund === undefined ? [funds] : [ledger]}
      isEmpty={fund === undefined || rows.length === 0}
      empty={
        fund === undefined ? (
          <NoFund />
        ) : (
          <p>Nothing is booked in this range. Capital, flows and fills are; choose a longer range.</p>
        )
      }
      tools={fund === undefined ? null : <Flow fund={fund} />}
      explained={[
        { figure: "Postings", formula: "Double entry: the amounts of one entry add up to zero in each currency." },
      ]}
    >
      <DataTable panel="ledger" caption="Ledger entries" columns={columns} rows={rows} id={(one) => one.entry_id} />
    </Panel>
  );
}

function Flow({ fund }: { readonly fund: Fund }) {
  const open = useDanger();
  const [typed, setTyped] = useState("");
  return (
    <span className="inline-form">
      <input
        aria-label={`Amount in ${fund.currency}; below zero takes out`}
        placeholder={`amount, ${fund.currency}`}
        className="short"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      <button
        type="button"
        disabled={!/^-?\d+(\.\d+)?$/.test(typed.trim()) || Number(typed) === 0}
        onClick={() => open(flowAsk(fund, typed.trim()))}
      >
        Book a flow…
      </button>
    </span>
  );
}

function flowAsk(fund: Fund, typed: string): DangerAsk {
  const words = typed.startsWith("-") ? "taken out of" : "put into";
  // One for the dialog: sent again after an answer was lost, it is booked once.
  const key = `web-${Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  return {
    title: "Book a flow",
    // Every digit that was typed: nothing is rounded that is sent as it is.
    scope: `${grouped(typed)} ${fund.currency}, fund ${fund.fund_id}`,
    scopeId: fund.fund_id,
    facts: [
      `${grouped(typed.replace(/^-/, ""))} ${fund.currency} are ${words} ${fund.fund_id}. A flow is neither profit nor loss.`,
    ],
    reason: "required",
    code: "maybe",
    command: shell`ctl treasury flow book --fund-id ${fund.fund_id} --amount ${typed} --reason TEXT --totp CODE`,
    run: audited({ action: "ledger.booked", run: (given, client) => bookFlow(client, fund, typed, key, given) }),
  };
}

async function bookFlow(
  client: Client,
  fund: Fund,
  typed: string,
  key: string,
  { reason, code }: Typed,
): Promise<readonly string[]> {
  const flow = { fundId: fund.fund_id, idempotencyKey: key, currency: fund.currency, amount: typed, reason };
  const parameters = { fund_id: fund.fund_id, idempotency_key: key, currency: fund.currency, amount: typed, reason };
  const proof =
    code === "" ? {} : { stepUpProof: (await client.stepUp({ action: "BookFlow", parameters, totp: code })).proof };
  const entry = await client.bookFlow({ ...flow, ...proof });
  const when = entry.already_booked ? " already, and not again" : "";
  return [`BOOKED${when}: ${amount(typed)} ${fund.currency}, fund ${entry.fund_id}.`, `Entry ${entry.entry_id}`];
}
