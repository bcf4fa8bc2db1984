/**
 * The types of the part of Stryker's instrumenter that the campaign calls. The package is installed
 * only when the campaign runs, so type checks cannot read its own types.
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
