// Files that import each other in a circle, whatever for: none of them can be read, moved or tested without all the others.

/** Every circle once, each as the sorted paths of its files. `imports` names for each file the files that it imports. */
export function circlesOf(imports: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const numbers = new Map<string, number>();
  const open: string[] = [];
  const circles: (readonly string[])[] = [];
  const visit = (file: string): number => {
    const number = numbers.size;
    numbers.set(file, number);
    let low = number;
    open.push(file);
    for (const other of imports.get(file) ?? []) {
      if (!numbers.has(other)) low = Math.min(low, visit(other));
      else if (open.includes(other)) low = Math.min(low, numbers.get(other) ?? low);
    }
    if (low === number) {
      const circle = open.splice(open.indexOf(file));
      if (circle.length > 1) circles.push(circle.sort());
    }
    return low;
  };
  for (const file of imports.keys()) if (!numbers.has(file)) visit(file);
  return circles;
}
