/** The tests of one promise under faults. `docs/reliability.md` has a section with the same name. */
export interface Campaign {
  readonly name: string;
  /** Test files, without `build/tests/` and `.test.js`. */
  readonly files: readonly string[];
  /** True if its figures are times. It runs alone then, after all others, so that they mean something. */
  readonly isTimed?: boolean;
}

export const CAMPAIGNS: readonly Campaign[] = [
  {
    name: 'No acknowledged write is lost or doubled',
    files: ['faults/mixed-use', 'faults/other-processes', 'faults/exactly-once', 'faults/lost-updates'],
  },
  { name: 'Broken connections', files: ['faults/broken-connections'] },
  { name: 'A record is linearizable', files: ['faults/linearizability'] },
  { name: 'Lists during writes', files: ['faults/lists-during-writes'] },
  { name: 'Redis outages', files: ['faults/redis-outages'], isTimed: true },
  { name: 'MongoDB outages', files: ['faults/mongo-outages'], isTimed: true },
  { name: 'Unknown outcomes', files: ['faults/unknown-outcomes'] },
  { name: 'Overload', files: ['faults/overload'], isTimed: true },
  { name: "One client's flood", files: ['faults/floods', 'faults/costs'], isTimed: true },
  { name: 'Slow and silent clients', files: ['faults/slow-clients'], isTimed: true },
  { name: 'Framing', files: ['faults/framing', 'http/request-smuggling', 'http/pipelining'] },
  { name: 'Values', files: ['faults/values', 'http/csv-round-trip'] },
  { name: 'Injection and access', files: ['faults/injection', 'faults/access', 'http/authorization-matrix'] },
  { name: 'Rolling restarts', files: ['faults/rolling-restarts'] },
  { name: 'Faults of the disk', files: ['faults/disk', 'faults/lost-files'] },
  { name: 'Backup and restore', files: ['faults/backups-under-load', 'faults/backup'] },
  { name: 'Clock steps', files: ['faults/clock'] },
  { name: 'Leaks of secrets', files: ['faults/leaks', 'faults/secrets'] },
];
