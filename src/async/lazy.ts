const parts = new Set<() => Promise<unknown>>();

/**
 * Returns a function that loads a module on first use. `load` is an `import()`, so the bundler
 * makes a separate module of this code, which a start of the service does not read. Concurrent
 * first users load it side by side, because a promise that requests share would never settle if
 * the request that created it is aborted. The runtime still evaluates the module only once.
 */
export function lazy<Module>(load: () => Promise<Module>): () => Promise<Module> {
  let loaded: { module: Module } | null = null;
  const part = async () => {
    loaded ??= { module: await load() };
    return loaded.module;
  };
  parts.add(part);
  return part;
}

/** Loads everything that is loaded on first use, also what these modules would load. */
export async function loadAllParts(): Promise<void> {
  for (const part of parts) await part(); // the loop includes parts that are added during it
}
