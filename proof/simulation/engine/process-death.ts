/** Thrown when the process crashes, to leave the functions that were running in it. */
export class ProcessDeath extends Error {
  override readonly name = "ProcessDeath";
}
