/**
 * The part of Stryker's instrumenter that the campaign calls. The package is in a separate folder,
 * so type checks run without it.
 */
declare module "@stryker-mutator/instrumenter" {
  type SourceFile = { name: string; mutate: boolean; content: string };
  type Place = { line: number; column: number };
  type MadeMutant = {
    id: string;
    fileName: string;
    location: { start: Place; end: Place };
    replacement: string;
  };

  export class Instrumenter {
    constructor(logger: Record<string, (() => boolean) | (() => void)>);
    instrument(
      files: readonly SourceFile[],
      options: { plugins: null; excludedMutations: string[]; ignorers: [] },
    ): Promise<{ files: { name: string; content: string }[]; mutants: MadeMutant[] }>;
  }
}
