/** The part of R2 that contexts use, in memory. */
export function createBucket() {
  const objects = new Map<string, Uint8Array<ArrayBuffer>>();
  return {
    put: async (key: string, value: Uint8Array | string, options?: { onlyIf?: unknown }) => {
      if (options?.onlyIf !== undefined && objects.has(key)) return null;
      const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
      objects.set(key, new Uint8Array(bytes));
      return { key };
    },
    get: async (key: string, options?: { range?: { offset: number; length: number } }) => {
      const found = objects.get(key);
      if (!found) return null;
      const { offset, length } = options?.range ?? { offset: 0, length: found.byteLength };
      const bytes = found.slice(offset, offset + length);
      return {
        body: new Blob([bytes]).stream(),
        text: async () => new TextDecoder().decode(bytes),
        arrayBuffer: async () => bytes.buffer,
        bytes: async () => bytes,
      };
    },
    head: async (key: string) => (objects.has(key) ? { key } : null),
    delete: async (keys: string | readonly string[]) => {
      for (const key of [keys].flat()) objects.delete(key);
    },
    list: async ({ prefix }: { prefix: string }) => ({
      objects: [...objects]
        .filter(([key]) => key.startsWith(prefix))
        .map(([key, { byteLength: size }]) => ({ key, size })),
      truncated: false,
    }),
  };
}
