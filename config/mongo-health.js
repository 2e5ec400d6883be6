// Run by mongosh in the container of MongoDB. At the first start it initiates the replica set of one member, then creates
// the users: both are allowed from localhost as long as there is no user. Succeeds if this member accepts writes.
const { readFileSync } = require('node:fs');

const password = (name) => readFileSync(`/secrets/${name}`, 'utf8');
const admin = db.getSiblingDB('admin');
const { setName, isWritablePrimary } = admin.hello();
if (setName === undefined) rs.initiate({ _id: 'rs0', members: [{ _id: 0, host: 'mongo:27017' }] });
if (!isWritablePrimary) throw new Error('no primary yet');
try {
  admin.auth('admin', password('admin'));
} catch {
  admin.createUser({ user: 'admin', pwd: password('admin'), roles: ['root'] });
  admin.auth('admin', password('admin'));
}
if (!admin.getUser('catalogue')) {
  const roles = [{ role: 'readWrite', db: 'catalogue' }];
  admin.createUser({ user: 'catalogue', pwd: password('catalogue'), roles });
}
