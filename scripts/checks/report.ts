import type { Problem } from "./source";

/** Prints the problems that a check has found. Sets the exit code to 1 if there is a problem. */
export function report(name: string, files: number, problems: Problem[]): void {
  for (const { path, line, message } of problems) console.error(`${path}:${line} ${message}`);
  console.log(
    `${name}: ${files} files, ${problems.length === 0 ? "nothing found" : `${problems.length} problems`}`,
  );
  if (problems.length > 0) process.exitCode = 1;
}
