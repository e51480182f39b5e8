// The address as state: read by every panel, changed in one way, and never pushed twice for what somebody types.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { msOf } from "../model/moments.ts";
import { type Range, rangeOf } from "../model/range.ts";
import { type DeskSearch, readSearch, refusedIn } from "../model/search.ts";
import { useNow } from "../web-context.tsx";

type SearchChange = { readonly [Key in keyof DeskSearch]?: DeskSearch[Key] | undefined };

export function useDeskSearch(): DeskSearch {
  return readSearch(useSearch({ strict: false }) as Readonly<Record<string, unknown>>);
}

/** What the address says that cannot be. */
export function useRefusedSearch(): readonly string[] {
  return refusedIn(useSearch({ strict: false }) as Readonly<Record<string, unknown>>);
}

/** The range that the address names, as of now. */
export function useRange(): Range {
  return rangeOf(useDeskSearch(), msOf(useNow()));
}

export function useChangeSearch(): (change: SearchChange) => void {
  const navigate = useNavigate();
  return (change) =>
    void navigate({
      to: ".",
      search: (before: Readonly<Record<string, unknown>>) => readSearch({ ...before, ...change }),
      replace: true,
    } as Parameters<typeof navigate>[0]);
}
