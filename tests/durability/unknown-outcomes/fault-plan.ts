const WRITES = ['insert', 'update', 'delete', 'findAndModify'];

interface Plan {
  readonly fault: string;
  /** The index, among the calls that may have the fault, of the first one that has it. */
  readonly at: number;
  /** How many calls have it, one after the other. */
  readonly times: number;
  /** Whether a call counts. */
  readonly counts: (call: string) => boolean;
}

/** Chooses the calls to a server that have a fault. */
export class FaultPlan {
  /** The calls that had the fault of the present plan. */
  played: string[] = [];
  /** The number of calls since {@link arm} that might have had the fault. */
  seen = 0;
  private plan: Plan | undefined;

  arm(plan: Plan): void {
    this.plan = plan;
    this.seen = 0;
    this.played = [];
  }

  disarm(): void {
    this.plan = undefined;
  }

  /** @param call what the service asks for and of what, such as `insert products` */
  faultOf(call: string): string | undefined {
    const { plan } = this;
    if (!plan?.counts(call)) return undefined;
    if (plan.fault === 'unconfirmed' && !WRITES.includes(call.split(' ')[0] ?? '')) return undefined;
    const at = this.seen++;
    if (at < plan.at || at >= plan.at + plan.times) return undefined;
    this.played.push(call);
    return plan.fault;
  }
}
