// Half of a figure is another figure: where a table is wider than its place, the columns that stand there only in part are known, so that their figures are not shown.
import { type RefObject, useEffect, useState } from "react";

/** Positions of the columns that are cut at a side, from 1, as `data-cut` has them; undefined when the whole table is seen. */
export function useCutColumns(place: RefObject<HTMLElement | null>): string | undefined {
  const [cut, setCut] = useState<string>();
  useEffect(() => {
    const element = place.current;
    const table = element?.querySelector("table");
    if (element === null || table === null || table === undefined) return undefined;
    const look = (): void => setCut(cutIn(element, table));
    const observer = new ResizeObserver(look);
    observer.observe(element);
    observer.observe(table);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [place]);
  return cut;
}

function cutIn(element: HTMLElement, table: HTMLTableElement): string | undefined {
  if (element.scrollWidth <= element.clientWidth) return undefined;
  const { left } = element.getBoundingClientRect();
  const edges = { left, right: left + element.clientWidth };
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])].map((head) => head.getBoundingClientRect());
  return cutColumns(heads, edges).join(" ");
}

interface Edges {
  readonly left: number;
  readonly right: number;
}

/** A pixel is no cut: browsers round. */
const roundedPx = 1;
/** What stands to the right of a figure within its cell: where only that is cut, the figure is whole. */
const paddingPx = 8;

export function cutColumns(columns: readonly Edges[], place: Edges): readonly number[] {
  return columns.flatMap(({ left, right }, index) => {
    const isSeen = right > place.left + roundedPx && left < place.right - roundedPx;
    const isWhole = left >= place.left - roundedPx && right - paddingPx <= place.right + roundedPx;
    return isSeen && !isWhole ? [index + 1] : [];
  });
}
