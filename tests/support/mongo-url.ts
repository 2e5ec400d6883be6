const LONG_MS = 20_000;

/** Returns options with longer waits than those of the service, so that a busy computer is not an outage. */
export function patience(socketTimeoutMS = LONG_MS): string {
  const others = ['serverSelectionTimeoutMS', 'connectTimeoutMS', 'waitQueueTimeoutMS', 'heartbeatFrequencyMS'];
  return [`socketTimeoutMS=${socketTimeoutMS}`, ...others.map((name) => `${name}=${LONG_MS}`)].join('&');
}

/**
 * Returns MONGODB_URL with this database.
 * @param options options to add; empty: the waits of the service
 * @throws Error that explains how to start a server if the variable is not set
 */
export function mongoUrl(database: string, options = patience()): string {
  const url = process.env['MONGODB_URL'];
  if (!url) {
    throw new Error(
      'MONGODB_URL is not set. It must name a MongoDB replica set, or the stand-in of tests/support/mongo-server: ' +
        'mvn dependency:copy-dependencies there, then java -cp "lib/*" MongoServer.java 27017 FILE, ' +
        'and MONGODB_URL=mongodb://127.0.0.1:27017/?replicaSet=rs0',
    );
  }
  const named = url.replace(/^(mongodb(?:\+srv)?:\/\/[^/?]*)\/?[^?]*/, `$1/${database}`);
  if (options === '') return named;
  return `${named}${named.includes('?') ? '&' : '?'}${options}`;
}

/** Returns the URL with a proxy on this port as its only host. Discovery is off, as it would bypass the proxy. */
export function throughProxy(url: string, port: number): string {
  const direct = url.replace(/replicaSet=[^&]*&?/, '').replace(/\?$/, '');
  return `${direct.replace(/\/\/([^@/]*@)?[^/]*/, `//$1127.0.0.1:${port}`)}${direct.includes('?') ? '&' : '?'}directConnection=true`;
}

/** Returns the first server in the URL. */
export function serverOf(url: string): { host: string; port: number } {
  const [, host = '', port = '27017'] = /\/\/(?:[^@/]*@)?([^:,/?]+):?(\d+)?/.exec(url) ?? [];
  return { host, port: Number(port) };
}
