/**
 * MONGODB_URL, with this database in it.
 * @throws Error with how to start a server, where the variable is not set
 */
export function mongoUrl(database: string): string {
  const url = process.env['MONGODB_URL'];
  if (!url) {
    throw new Error(
      'MONGODB_URL is not set. It takes a MongoDB replica set, or the stand-in of tests/support/mongo-server: ' +
        'mvn dependency:copy-dependencies there, then java -cp "lib/*" MongoServer.java 27017 FILE, ' +
        'and MONGODB_URL=mongodb://127.0.0.1:27017/?replicaSet=rs0',
    );
  }
  return url.replace(/^(mongodb(?:\+srv)?:\/\/[^/?]*)\/?[^?]*/, `$1/${database}`);
}

/** The URL by way of a proxy on this port: one host, and no discovery of others that would go around it. */
export function throughProxy(url: string, port: number): string {
  const direct = url.replace(/replicaSet=[^&]*&?/, '').replace(/\?$/, '');
  return `${direct.replace(/\/\/([^@/]*@)?[^/]*/, `//$1127.0.0.1:${port}`)}${direct.includes('?') ? '&' : '?'}directConnection=true`;
}

/** The first server that the URL names. */
export function serverOf(url: string): { host: string; port: number } {
  const [, host = '', port = '27017'] = /\/\/(?:[^@/]*@)?([^:,/?]+):?(\d+)?/.exec(url) ?? [];
  return { host, port: Number(port) };
}
