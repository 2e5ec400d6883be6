import type { Document } from 'mongodb';
import { type MongoFault, targetOf } from '../../support/mongo-proxy.js';
import { nameOf } from '../../support/mongo-wire.js';

const WRITES = ['insert', 'update', 'delete', 'findAndModify'];
const DATA = [...WRITES, 'find', 'getMore', 'aggregate', 'listIndexes', 'createIndexes'];

interface Plan {
  readonly fault: MongoFault;
  /** The index, among the commands that may have the fault, of the first one that has it. */
  readonly at: number;
  /** How many commands have it, one after the other. */
  readonly times: number;
  /** Whether a command counts, by its name and collection. */
  readonly counts: (command: string) => boolean;
}

/** Chooses the commands about data that have a fault. */
export class FaultPlan {
  /** Names and collections of the commands that had the fault of the present plan. */
  played: string[] = [];
  /** The number of commands since {@link arm} that might have had the fault. */
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

  faultOf(command: Document): MongoFault | undefined {
    const { plan } = this;
    const [name, target] = [nameOf(command), targetOf(command)];
    if (!plan || !DATA.includes(name) || !plan.counts(target)) return undefined;
    if (plan.fault === 'unconfirmed' && !WRITES.includes(name)) return undefined;
    const at = this.seen++;
    if (at < plan.at || at >= plan.at + plan.times) return undefined;
    this.played.push(target);
    return plan.fault;
  }
}
