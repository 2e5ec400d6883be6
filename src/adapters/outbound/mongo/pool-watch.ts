import type { MongoClient } from 'mongodb';
import type { PoolFigures } from '../../../application/ports/store.js';

/** Counts the connections of a client, of all servers of the replica set together. */
export class PoolWatch {
  private open = 0;
  private used = 0;
  private waiting = 0;

  /**
   * @param max per server; 0 means no limit
   * @param timeouts those of the client before this one
   */
  constructor(
    client: MongoClient,
    private readonly max: number,
    public timeouts = 0,
  ) {
    client.on('connectionCreated', () => this.open++);
    client.on('connectionClosed', () => this.open--);
    client.on('connectionCheckOutStarted', () => this.waiting++);
    client.on('connectionCheckedOut', () => {
      this.waiting--;
      this.used++;
    });
    client.on('connectionCheckedIn', () => this.used--);
    client.on('connectionCheckOutFailed', ({ reason }) => {
      this.waiting--;
      if (reason === 'timeout') this.timeouts++;
    });
  }

  get figures(): PoolFigures {
    const { open, used, max, waiting, timeouts } = this;
    return {
      pool: 'mongodb',
      used,
      idle: Math.max(0, open - used),
      ...(max > 0 && { max }),
      waiting,
      timeouts,
    };
  }
}
