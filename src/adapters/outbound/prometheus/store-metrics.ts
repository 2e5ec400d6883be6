import type { Clock } from '../../../application/ports/clock.js';
import type { MetricValue } from '../../../application/ports/metrics.js';
import type { EndStoreCall, StoreCall, StoreObserver } from '../../../application/ports/store-observer.js';
import { AppError } from '../../../domain/errors.js';
import { BucketCounts, definedLabels, entryOf } from './bucket-counts.js';
import type { Labels } from './definitions.js';

const DURATION = 'db_client_operation_duration_seconds';

/** Seconds; the advice of the semantic conventions. */
const BOUNDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];

const newSeries = () => new BucketCounts(BOUNDS);
const newMap = () => new Map<string | undefined, BucketCounts>();

/** Measures the calls of the store and of Redis. */
export class StoreMetrics implements StoreObserver {
  /** By call, then by error. A call is one value, so it is its own key. */
  private readonly durations = new Map<StoreCall, Map<string | undefined, BucketCounts>>();

  constructor(private readonly clock: Pick<Clock, 'elapsed'>) {}

  begin(call: StoreCall): EndStoreCall {
    const started = this.clock.elapsed();
    return (error) => {
      const seconds = (this.clock.elapsed() - started) / 1_000;
      this.seriesOf(call, error === undefined ? undefined : errorType(error)).observe(seconds);
    };
  }

  operationDurations(): MetricValue[] {
    return [...this.durations].flatMap(([{ system, collection, operation }, series]) =>
      [...series].flatMap(([error, counts]) => {
        const labels: Labels<typeof DURATION> = {
          db_system_name: system,
          db_collection_name: collection,
          db_operation_name: operation,
          error_type: error,
        };
        return counts.values(DURATION, definedLabels(labels));
      }),
    );
  }

  private seriesOf(call: StoreCall, error: string | undefined): BucketCounts {
    return entryOf(entryOf(this.durations, call, newMap), error, newSeries);
  }
}

/** The conventions name every unknown error `_OTHER`. */
function errorType(error: unknown): string {
  return error instanceof AppError ? error.code : '_OTHER';
}
