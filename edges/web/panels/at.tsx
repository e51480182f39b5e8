// A time of a row, in the form that machines read it too; where the row is about a fund it opens the replay at that moment.
import { Link } from "@tanstack/react-router";
import { useDeskSearch } from "../frame/use-search.ts";
import { clockText, msOf, utcText } from "../model/moments.ts";
import { type Happening, replayOf } from "../model/search.ts";
import { useWeb } from "../web-context.tsx";

interface AtProps {
  readonly text: string | null | undefined;
  /** Instead of the time of day. */
  readonly shown?: string;
}

export function At({ text, shown }: AtProps) {
  if (text === null || text === undefined || text === "") return null;
  return (
    <time dateTime={text} title={utcText(text)}>
      {shown ?? clockText(text)}
    </time>
  );
}

export function ToReplay({ text, shown, fund, symbol }: AtProps & Pick<Happening, "fund" | "symbol">) {
  const search = useDeskSearch();
  const { clock } = useWeb();
  const there = replayOf(search, { fund, symbol, at: text ?? undefined }, msOf(clock.now()));
  const time = shown === undefined ? <At text={text} /> : <At text={text} shown={shown} />;
  if (there === undefined) return time;
  return (
    <Link
      to="/replay"
      search={there}
      data-testid="to-replay"
      aria-label={`${shown ?? clockText(text)}, replay ${fund ?? ""} at ${utcText(text)}`}
    >
      {time}
    </Link>
  );
}
