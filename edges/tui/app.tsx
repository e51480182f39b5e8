// The desk as Ink draws it: the frame's lines, and what the keyboard says. Everything else is decided before it comes here.
import { Box, Text, useInput } from "ink";
import { useSyncExternalStore } from "react";
import type { KeyDecoder } from "./keys.ts";
import type { Store } from "./store.ts";
import { frame } from "./view/frame.ts";
import { type Line, type Look, painted } from "./view/text.ts";

export interface AppProps {
  readonly store: Store;
  readonly decoder: KeyDecoder;
  readonly look: Look;
}

export function App({ store, decoder, look }: AppProps) {
  const state = useSyncExternalStore(store.subscribe, store.state);
  useInput((input, key) => {
    for (const event of decoder.decode(input, key)) store.dispatch({ kind: "input", input: event });
  });
  return <Frame lines={frame(state, look)} look={look} />;
}

function Frame({ lines, look }: { readonly lines: readonly Line[]; readonly look: Look }) {
  return (
    <Box flexDirection="column">
      {lines.map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line of the terminal is its place
        <Text key={at} wrap="truncate">
          {painted(line, look) || " "}
        </Text>
      ))}
    </Box>
  );
}
