import { expect, it } from "vitest";
import { drawSamples } from "./sample-table";

it("shows files that run before those that are refused, each with what it needs and why it is not had, or how it runs all the same", () => {
  const table = drawSamples([
    { file: "tools/shell.yaml", needs: ["shell_docker", "skills"] },
    { file: "tools/program.yaml", needs: ["claude_code", "local_inference"] },
    { file: "two.yaml", needs: [] },
    { file: "one.yaml", needs: [] },
    { file: "site.yaml", needs: ["host_context_path"] },
    { file: "site-and-memory.yaml", needs: ["host_context_path", "persistent_memory"] },
    { file: "weather.yaml", needs: ["stdio_mcp"] },
    { file: "weather-of-site.yaml", needs: ["stdio_mcp", "host_context_path"] },
  ]);
  expect(table.split("\n")).toEqual([
    "Sample configs: 2 of 8 run",
    "  one.yaml              runs",
    "  two.yaml              runs",
    "  site-and-memory.yaml  refused: persistent_memory (this service does not have that yet); else it runs once its files are pushed",
    "  site.yaml             runs once its files are pushed",
    "  tools/program.yaml    refused: claude_code (no backend that runs in a service); else it runs where the operator allows its models' address",
    "  tools/shell.yaml      refused: shell_docker (there is no Docker here), skills (this service does not have that yet)",
    "  weather-of-site.yaml  runs with `npm run bridge` and once its files are pushed",
    "  weather.yaml          runs with `npm run bridge`",
  ]);
});
