/**
 * The name of a called tool as it may go back. A model can call what was never offered, by any name, and servers refuse every
 * further request of the conversation for a name that no tool could have. `longest`: characters a tool's name may have there.
 */
export const fittingName = (name: string, longest = 64): string =>
  name.replace(/[^\w-]/g, "_").slice(0, longest) || "unnamed";
