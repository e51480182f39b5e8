// The documents of both listeners as one, for whoever looks for every route in one place: what only the public listener serves says where that is.
// A path that both serve is described as the operators' listener answers it; the public listener's own document has the other.
interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

export function joinedOpenApi(operator: object, open: object, publicUrl: string): object {
  const [own, other] = [operator as Described, open as Described];
  const servers = [{ url: publicUrl, description: "The public listener." }];
  const added = Object.entries(other.paths)
    .filter(([path]) => own.paths[path] === undefined)
    .map(([path, methods]) => [path, placed(methods, servers)] as const);
  return {
    ...own,
    paths: sorted({ ...own.paths, ...Object.fromEntries(added) }),
    components: { ...own.components, schemas: sorted({ ...other.components.schemas, ...own.components.schemas }) },
  };
}

function placed(
  methods: Readonly<Record<string, object>>,
  servers: readonly object[],
): Readonly<Record<string, object>> {
  return Object.fromEntries(Object.entries(methods).map(([method, operation]) => [method, { ...operation, servers }]));
}

function sorted<Value>(record: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> {
  return Object.fromEntries(Object.entries(record).sort(([left], [right]) => (left < right ? -1 : 1)));
}
