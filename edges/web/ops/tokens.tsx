// The tokens of machines: what each may do, until when; never a token itself.

import { format } from "../../../contracts/src/instant.ts";
import { age } from "../../words/times.ts";
import type { Lists } from "../data/lists.ts";
import { useList } from "../data/use-list.ts";
import { utcText } from "../model/moments.ts";
import { type Column, DataTable } from "../panels/data-table.tsx";
import { StateWord } from "../panels/figures.tsx";
import { Panel } from "../panels/panel.tsx";
import { useNow } from "../web-context.tsx";

type Token = Lists["tokens"][number];

export function tokenWord({ revoked_at, expires_at }: Pick<Token, "revoked_at" | "expires_at">, now: string): string {
  if (revoked_at !== undefined) return "revoked";
  return expires_at <= now ? "expired" : "good";
}

export function Tokens() {
  const tokens = useList("tokens");
  const now = useNow();
  const rows = tokens.data ?? [];
  const columns: readonly Column<Token>[] = [
    { id: "name", head: "Name", by: (one) => one.name },
    {
      id: "state",
      head: "State",
      by: (one) => tokenWord(one, format(now)),
      cell: (one) => (
        <StateWord
          word={tokenWord(one, format(now))}
          grade={tokenWord(one, format(now)) === "good" ? undefined : "info"}
        />
      ),
    },
    { id: "until", head: "Until", unit: "UTC", by: (one) => one.expires_at, cell: (one) => utcText(one.expires_at) },
    { id: "by", head: "Issued by", by: (one) => one.created_by },
    { id: "age", head: "Age", by: (one) => one.created_at, cell: (one) => age(one.created_at, now) },
    { id: "funds", head: "Funds", by: (one) => one.funds?.join(", ") ?? "every fund" },
    { id: "logins", head: "NATS logins", by: (one) => one.nats_logins?.join(", ") ?? "" },
    { id: "operations", head: "May", by: (one) => one.operations.join(", ") },
    { id: "id", head: "Id", by: (one) => one.id, cell: (one) => <code>{one.id}</code> },
  ];
  return (
    <Panel
      name="tokens"
      title="Machines' tokens"
      wide
      reads={[tokens]}
      isEmpty={rows.length === 0}
      empty={<p>No machine has a token. `ctl auth tokens issue` gives one.</p>}
      explained={[
        {
          figure: "State",
          formula: "good until it expires or is revoked; a rotated one is good until its overlap ends.",
        },
      ]}
    >
      <DataTable panel="tokens" caption="Machines' tokens" columns={columns} rows={rows} id={(one) => one.id} />
    </Panel>
  );
}
