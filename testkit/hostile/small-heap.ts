// Every process gets by with so little that whatever grew with the number of messages would end it: then its number changes, and it is seen.
export const smallHeap = { NODE_OPTIONS: "--max-old-space-size=160" } as const;
