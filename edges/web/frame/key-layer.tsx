// The keys, their help and the palette: one listener for the whole page.
import { Dialog } from "@base-ui/react/dialog";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { haltAsk } from "../danger/asks.ts";
import { useDanger } from "../danger/danger-dialog.tsx";
import { lists } from "../data/lists.ts";
import { useList } from "../data/use-list.ts";
import { desks } from "../desk-list.ts";
import { carried, type DeskSearch, readSearch } from "../model/search.ts";
import { useWeb } from "../web-context.tsx";
import { type KeyMeaning, keyHelp, meaningOf } from "./keys.ts";
import { useChangeSearch, useDeskSearch } from "./use-search.ts";

const afterGMs = 1_500;
const saidMs = 4_000;

/** What is carried over is asked of the address when the key comes: what was rendered last may be of an address before it. */
const carriedTo = (path: string) => ({
  to: path,
  search: (now: Readonly<Record<string, unknown>>) => carried(readSearch(now)),
});

export function KeyLayer() {
  const [shown, setShown] = useState<"help" | "palette">();
  const [said, setSaid] = useState("");
  const { timers } = useWeb();
  const navigate = useNavigate();
  const search = useDeskSearch();
  const change = useChangeSearch();
  const gAt = useRef(0);
  const mean = (meaning: KeyMeaning): void => {
    if (meaning.kind === "desk") void navigate(carriedTo(meaning.path) as never);
    if (meaning.kind === "help" || meaning.kind === "palette") setShown(meaning.kind);
    if (meaning.kind === "filter") document.getElementById("filter")?.focus();
    if (meaning.kind === "chart") change({ tables: search.tables === undefined ? "all" : undefined });
    if (meaning.kind === "copy") {
      void copyCommand(search).then((text) => {
        setSaid(text);
        timers.after(saidMs, () => setSaid(""));
      });
    }
  };
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const isAfterG = gAt.current > 0 && event.timeStamp - gAt.current < afterGMs;
      const meaning = meaningOf(pressOf(event), isAfterG);
      gAt.current = meaning.kind === "await" ? event.timeStamp : 0;
      if (meaning.kind === "nothing") return;
      if (meaning.kind !== "await") event.preventDefault();
      mean(meaning);
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  });
  return (
    <>
      <p className={said === "" ? "unseen" : "said"} role="status" data-testid="said">
        {said}
      </p>
      <Dialog.Root open={shown !== undefined} onOpenChange={(isOpen) => setShown(isOpen ? shown : undefined)}>
        <Dialog.Portal>
          <Dialog.Backdrop className="backdrop" />
          <Dialog.Popup className="overlay">
            {shown === "help" ? <Help /> : <Palette close={() => setShown(undefined)} />}
          </Dialog.Popup>
        </Dialog.Portal>
      </Dialog.Root>
    </>
  );
}

function pressOf(event: KeyboardEvent) {
  const { target, key, ctrlKey: ctrl, metaKey: meta, altKey: alt } = event;
  const inField = target instanceof Element && target.closest("input, select, textarea, [role=dialog]") !== null;
  return { key, ctrl, meta, alt, isTyping: inField };
}

/** Where a panel is called otherwise than its list. */
const listNames = new Map([
  ["limit-use", "use"],
  ["nav", "navs"],
  ["weather", "faults"],
  ["dry-run", "dryRun"],
  ["correlations", "matrix"],
  ["cell", "headroom"],
  ["chart", "bars"],
]);

/** Of the panel in which the focus is, else of the desk's first. */
async function copyCommand(search: DeskSearch): Promise<string> {
  const panel =
    document.activeElement?.closest("[data-testid^=panel-]") ?? document.querySelector("[data-testid^=panel-]");
  const name = panel?.getAttribute("data-testid")?.slice("panel-".length) ?? "";
  const listName = listNames.get(name) ?? name;
  const place = listName in lists ? lists[listName as keyof typeof lists] : lists.halts;
  const command = place.command(search);
  try {
    await navigator.clipboard.writeText(command);
  } catch {
    // Browsers may refuse it; then it can be copied by hand.
    return `Not copied, the browser refused: ${command}`;
  }
  return `Copied: ${command}`;
}

function Help() {
  return (
    <>
      <Dialog.Title>Keys</Dialog.Title>
      <dl className="keys">
        {keyHelp.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p>
        <a href="/about">About and licences</a> · <a href="/docs">The API</a>
      </p>
      <Dialog.Close>Close</Dialog.Close>
    </>
  );
}

interface Entry {
  readonly label: string;
  run(): void;
}

function Palette({ close }: { readonly close: () => void }) {
  const [typed, setTyped] = useState("");
  const entries = useEntries().filter(({ label }) => label.toLowerCase().includes(typed.toLowerCase()));
  const choose = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    close();
    entry.run();
  };
  return (
    <>
      <Dialog.Title>Go to</Dialog.Title>
      <input
        aria-label="A desk, a fund or an action"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => (event.key === "Enter" ? choose(entries[0]) : undefined)}
      />
      <ul className="palette">
        {entries.slice(0, 12).map((entry) => (
          <li key={entry.label}>
            <button type="button" onClick={() => choose(entry)}>
              {entry.label}
            </button>
          </li>
        ))}
        {entries.length === 0 && <li>Nothing is called so.</li>}
      </ul>
    </>
  );
}

function useEntries(): readonly Entry[] {
  const navigate = useNavigate();
  const change = useChangeSearch();
  const open = useDanger();
  const { data: funds = [] } = useList("funds");
  return [
    ...desks.map(({ title, path, question }) => ({
      label: `${title}: ${question}`,
      run: () => void navigate(carriedTo(path) as never),
    })),
    { label: "All funds", run: () => change({ fund: undefined }) },
    ...funds.map(({ fund_id, mode }) => ({
      label: `Fund ${fund_id} (${mode})`,
      run: () => change({ fund: fund_id }),
    })),
    { label: "Halt the whole firm…", run: () => open(haltAsk()) },
    ...funds.map(({ fund_id }) => ({ label: `Halt ${fund_id}…`, run: () => open(haltAsk(fund_id)) })),
  ];
}
