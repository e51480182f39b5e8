// A table that is no list of rows, such as a grid: it scrolls sideways in its own place, and the columns that are cut there are said.
import { type ReactNode, useRef } from "react";
import { useCutColumns } from "./cut-columns.ts";

interface ScrollingTableProps {
  readonly label: string;
  readonly children: ReactNode;
}

export function ScrollingTable({ label, children }: ScrollingTableProps) {
  const place = useRef<HTMLElement>(null);
  const cut = useCutColumns(place);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a place that scrolls must be reachable by keyboard. */}
      <section className="scroll grid" ref={place} tabIndex={0} aria-label={label}>
        <table data-cut={cut}>
          <caption className="unseen">{label}</caption>
          {children}
        </table>
      </section>
      {cut !== undefined && <p className="note sideways">More columns: the table scrolls sideways.</p>}
    </>
  );
}
