import de.bwaldvogel.mongo.MongoCollection;
import de.bwaldvogel.mongo.MongoDatabase;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.AbstractUniqueIndex;
import de.bwaldvogel.mongo.backend.CollectionOptions;
import de.bwaldvogel.mongo.backend.CursorRegistry;
import de.bwaldvogel.mongo.backend.DefaultQueryMatcher;
import de.bwaldvogel.mongo.backend.Index;
import de.bwaldvogel.mongo.backend.IndexKey;
import de.bwaldvogel.mongo.backend.KeyValue;
import de.bwaldvogel.mongo.backend.Missing;
import de.bwaldvogel.mongo.backend.QueryResult;
import de.bwaldvogel.mongo.backend.Utils;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import de.bwaldvogel.mongo.backend.h2.H2Collection;
import de.bwaldvogel.mongo.backend.h2.H2Database;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.exception.DuplicateKeyError;
import de.bwaldvogel.mongo.exception.MongoServerError;
import de.bwaldvogel.mongo.exception.MongoServerException;
import io.netty.channel.Channel;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;

/** A stand-in for a MongoDB 7.0 replica set of one member, stored in one H2 file. */
public class MongoServer {

    public static void main(String[] args) {
        if (args.length != 2) {
            System.err.println("usage: java -cp 'lib/*' MongoServer.java PORT H2FILE");
            System.exit(2);
        }
        System.setProperty("slf4j.internal.verbosity", "ERROR"); // no "no provider" notice
        System.setProperty("io.netty.eventLoopThreads", "64"); // so that a blocked connection blocks no other
        try {
            start(Integer.parseInt(args[0]), args[1]);
        } catch (Exception e) { // a port in use would leave the event loops running
            System.err.println(e);
            System.exit(1);
        }
    }

    private static void start(int port, String file) {
        // A commit that starts by itself could fall between a document and its index entry.
        MVStore store = new MVStore.Builder().fileName(file)
            .autoCommitDisabled().autoCommitBufferSize(0).compress().open();
        store.setRetentionTime(0); // every commit is synced, so replaced data may be overwritten
        var server = new de.bwaldvogel.mongo.MongoServer(new ReplicaSetBackend(store).version(new Mongo70()));
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdownNow));
        server.bind("127.0.0.1", port);
        System.out.println("ready on 127.0.0.1:" + server.getLocalAddress().getPort());
    }

    /** The driver refuses the wire version 8 that the library reports. */
    static class Mongo70 implements MongoVersion {
        @Override public List<Integer> getVersionArray() { return List.of(7, 0, 0); }
        @Override public int getWireVersion() { return 21; }
    }
}

/** The library's H2 backend, completed with the features that the driver needs. */
class ReplicaSetBackend extends H2Backend {

    private static final int FIRST_BATCH = 101; // mongod's default for find
    private static final int NEXT_BATCH = 1000;
    private static final int SESSION_TIMEOUT_MINUTES = 30;
    private static final int MAX_RETRY_RECORDS = 10_000;

    /** Options that change the result, so they must not be ignored. */
    private static final Set<String> REFUSED = Set.of(
        "collation", "startTransaction", "autocommit", "validator", "viewOn", "timeseries");
    private static final Set<String> READS = Set.of("find", "aggregate", "count", "distinct");
    private static final Set<String> ON_ANY_MEMBER =
        Set.of("hello", "isMaster", "ismaster", "ping", "buildInfo", "endSessions");
    private static final Set<String> KNOWN_INDEX_OPTIONS =
        Set.of("key", "name", "unique", "sparse", "expireAfterSeconds", "background", "v", "ns",
            "partialFilterExpression");

    /** The last retryable write of each session, in the store, so that it survives a crash together with the write. */
    private final MVMap<String, Document> retryRecords;
    private final Map<String, Document> duplicates = new HashMap<>(); // of the current command

    private final FailPoint failPoint = new FailPoint();
    private volatile long secondaryUntil; // of System.nanoTime()

    ReplicaSetBackend(MVStore store) {
        super(store);
        secondaryUntil = System.nanoTime();
        retryRecords = store.openMap("retryRecords");
    }

    /** Handles every command (handleMessage only unpacks and calls it), or lets it fail as a test has asked. */
    @Override
    public Document handleCommand(Channel channel, String db, String command, Document query) {
        if (command.equals("configureFailPoint")) {
            return failPoint.configure(query);
        }
        if (command.equals("replSetStepDown")) {
            secondaryUntil = System.nanoTime() + number(query, command) * 1_000_000_000;
            return ok();
        }
        if (isSecondary() && !ON_ANY_MEMBER.contains(command)) {
            return READS.contains(command) ? FailPoint.error(13435, "NotPrimaryNoSecondaryOk", query)
                : FailPoint.error(10107, "NotWritablePrimary", query);
        }
        Document fault = failPoint.take(db, command, query);
        if (fault == null) {
            return handle(channel, db, command, query);
        }
        FailPoint.block(fault);
        if (Boolean.TRUE.equals(fault.get("closeConnection"))) {
            channel.close();
            return ok();
        }
        if (fault.containsKey("errorCode")) {
            return FailPoint.error(((Number) fault.get("errorCode")).intValue(), "InjectedError", query);
        }
        Document reply = handle(channel, db, command, query);
        Document error = (Document) fault.get("writeConcernError");
        return error == null ? reply
            : FailPoint.labelled(((Number) error.get("code")).intValue(), query,
                reply.clone().append("writeConcernError", error));
    }

    /** A driver takes a server for dead that says nothing of itself while it works. */
    private Document handle(Channel channel, String db, String command, Document query) {
        boolean isHello = command.equals("hello") || command.equalsIgnoreCase("isMaster");
        return isHello ? hello(channel, super.handleCommand(channel, db, "isMaster", query))
            : handleAlone(channel, db, command, query);
    }

    /** The library locks per collection, which leaves races between check and write, so commands run one at a time. */
    private synchronized Document handleAlone(Channel channel, String db, String command, Document query) {
        duplicates.clear();
        try {
            refuse(query);
            Document reply = replay(query);
            if (reply == null) {
                long started = System.nanoTime();
                // A copy: the library hands out its live documents, and the reply is encoded outside this lock.
                Document sortable = (Document) ByteOrder.ENCODED.in(query);
                reply = (Document) ByteOrder.DECODED.in(execute(channel, db, command, sortable));
                heedMaxTime(command, query, System.nanoTime() - started);
                record(query, reply);
            }
            return reply;
        } catch (MongoServerException e) {
            return (Document) ByteOrder.DECODED.in(failure(e));
        } catch (RuntimeException e) {
            e.printStackTrace(); // the library would only log it, and no logger is bound
            throw e;
        } finally {
            makeDurable();
        }
    }

    private Document execute(Channel channel, String db, String command, Document query) {
        switch (command) {
            case "endSessions":
                for (Object lsid : list(query.get(command))) {
                    retryRecords.remove(sessionId((Document) lsid));
                }
                return ok();
            case "find":
                if (!Boolean.TRUE.equals(query.get("singleBatch"))) {
                    query.putIfAbsent("batchSize", FIRST_BATCH); // else everything in one reply
                }
                break;
            case "getMore":
                query.putIfAbsent("batchSize", NEXT_BATCH); // the library cannot do without
                break;
            case "insert":
                query.putIfAbsent("ordered", true);
                return inserted(query, super.handleCommand(channel, db, command, query));
            case "update":
                return oneByOne(channel, db, command, "updates", query);
            case "delete":
                return oneByOne(channel, db, command, "deletes", query);
            case "findAndModify":
                return withLastErrorObject(query, super.handleCommand(channel, db, command, query));
            case "createIndexes":
                return createIndexes(channel, db, query);
            case "dropIndexes":
                return dropIndexes(channel, db, query);
            case "drop":
                if (resolveDatabase(db).resolveCollection((String) query.get(command), false) == null) {
                    return ok(); // as since 7.0
                }
                break;
            case "listCollections":
                return filtered(query, super.handleCommand(channel, db, command, query));
            case "dropDatabase":
                return dropDatabase(channel, db);
        }
        return super.handleCommand(channel, db, command, query);
    }

    /** Refuses a read that took too long when it is finished, because the library cannot interrupt it. */
    private static void heedMaxTime(String command, Document query, long tookNanos) {
        Number maxTimeMS = (Number) query.getOrDefault("maxTimeMS", 0);
        boolean isLate = maxTimeMS.longValue() > 0 && tookNanos > maxTimeMS.longValue() * 1_000_000;
        if (isLate && READS.contains(command)) {
            throw new MongoServerError(50, "MaxTimeMSExpired", "operation exceeded time limit");
        }
    }

    /** It has stepped down. As the only member, it is elected again when the time of replSetStepDown is over. */
    private boolean isSecondary() {
        return System.nanoTime() < secondaryUntil;
    }

    private Document hello(Channel channel, Document reply) {
        // The address the client reached, so that PORT 0 and the replica set name agree.
        InetSocketAddress local = (InetSocketAddress) channel.localAddress();
        String me = local.getAddress().getHostAddress() + ":" + local.getPort();
        boolean isSecondary = isSecondary();
        if (!isSecondary) {
            reply.append("primary", me);
        }
        reply.append("ismaster", !isSecondary);
        return reply.append("helloOk", true)
            .append("isWritablePrimary", !isSecondary)
            .append("secondary", isSecondary)
            .append("setName", "rs0")
            .append("setVersion", 1)
            .append("hosts", List.of(me))
            .append("me", me)
            .append("logicalSessionTimeoutMinutes", SESSION_TIMEOUT_MINUTES)
            .append("readOnly", false);
    }

    // Sessions and retryable writes

    private static void refuse(Document query) {
        for (String option : REFUSED) {
            if (query.containsKey(option)) {
                throw notSupported(option);
            }
        }
        if (query.get("u") instanceof List || query.get("update") instanceof List) {
            throw notSupported("an update with a pipeline");
        }
    }

    /** Code 238, because the driver rewrites code 20 into advice about retryWrites. */
    private static MongoServerError notSupported(String what) {
        return new MongoServerError(238, "NotImplemented", what + " is not supported by this server");
    }

    private static String sessionId(Document lsid) {
        return lsid.get("id").toString();
    }

    static boolean isRetryable(Document query) {
        return query.get("lsid") != null && query.get("txnNumber") != null;
    }

    private static Long number(Object value) {
        return value == null ? null : ((Number) value).longValue();
    }

    private static long number(Document document, String field) {
        return ((Number) document.get(field)).longValue();
    }

    /** Returns the earlier reply to this write, or null if it has not run. */
    private Document replay(Document query) {
        if (!isRetryable(query)) {
            return null;
        }
        String session = sessionId((Document) query.get("lsid"));
        Document last = retryRecords.get(session);
        if (last == null || number(last, "txnNumber") < number(query, "txnNumber")) {
            return null;
        }
        if (number(last, "txnNumber") > number(query, "txnNumber")) {
            throw new MongoServerError(225, "TransactionTooOld", "Retryable write with txnNumber "
                + query.get("txnNumber") + " is prohibited on session " + session + " because a newer "
                + "retryable write with txnNumber " + last.get("txnNumber") + " has already started on this session.");
        }
        return (Document) last.get("reply");
    }

    private void record(Document query, Document reply) {
        if (!isRetryable(query)) {
            return;
        }
        retryRecords.put(sessionId((Document) query.get("lsid")), new Document("txnNumber", number(query, "txnNumber"))
            .append("time", System.currentTimeMillis())
            .append("reply", reply));
        if (retryRecords.size() > MAX_RETRY_RECORDS) {
            retryRecords.entrySet().stream()
                .sorted(Comparator.comparingLong(entry -> number(entry.getValue(), "time")))
                .limit(MAX_RETRY_RECORDS / 2)
                .map(Map.Entry::getKey)
                .toList()
                .forEach(retryRecords::remove);
        }
    }

    // Durability

    /** Syncs before the reply is sent: an acknowledged write is on disk, with or without j: true. */
    private void makeDurable() {
        MVStore store = getMvStore();
        if (store.isClosed() || !store.hasUnsavedChanges()) {
            return;
        }
        store.commit();
        store.sync();
    }

    @Override
    public synchronized void close() {
        super.close();
    }

    // Writes

    /** Corrects the count: the library counts every sent document as inserted. */
    private Document inserted(Document query, Document reply) {
        List<?> errors = list(reply.get("writeErrors"));
        if (!errors.isEmpty()) {
            boolean ordered = Boolean.TRUE.equals(query.get("ordered"));
            int failedAt = ((Number) ((Document) errors.get(0)).get("index")).intValue();
            reply.put("n", ordered ? failedAt : list(query.get("documents")).size() - errors.size());
            errors.forEach(error -> describeDuplicateKey((Document) error));
        }
        return reply;
    }

    /** The library continues after a failed statement of an ordered update, and loses the count of a failed delete. */
    private Document oneByOne(Channel channel, String db, String command, String field, Document query) {
        List<?> statements = list(query.get(field));
        boolean ordered = !Boolean.FALSE.equals(query.get("ordered"));
        List<Document> upserted = new ArrayList<>();
        List<Document> errors = new ArrayList<>();
        int n = 0;
        int modified = 0;
        for (int i = 0; i < statements.size() && (errors.isEmpty() || !ordered); i++) {
            Document one = query.clone();
            one.put(field, List.of(statements.get(i)));
            try {
                Document statement = (Document) statements.get(i);
                refuse(statement);
                Document reply = setsLong(statement) ? setTypes(channel, db, one, statement)
                    : super.handleCommand(channel, db, command, one);
                n += ((Number) reply.get("n")).intValue();
                modified += ((Number) reply.getOrDefault("nModified", 0)).intValue();
                for (Object entry : list(reply.get("upserted"))) {
                    upserted.add(((Document) entry).append("index", i));
                }
                for (Object entry : list(reply.get("writeErrors"))) {
                    errors.add(describeDuplicateKey(((Document) entry).append("index", i)));
                }
            } catch (MongoServerException e) {
                Document error = failure(e).append("index", i);
                error.remove("ok");
                errors.add(error);
            }
        }
        Document reply = new Document("n", n);
        if (command.equals("update")) {
            reply.append("nModified", modified);
        }
        if (!upserted.isEmpty()) {
            reply.append("upserted", upserted);
        }
        if (!errors.isEmpty()) {
            reply.append("writeErrors", errors);
        }
        return reply.append("ok", 1.0);
    }

    private static boolean setsLong(Document statement) {
        return statement.get("u") instanceof Document u && u.get("$set") instanceof Document members
            && members.values().stream().anyMatch(Long.class::isInstance);
    }

    /** The library changes no int32 to an int64 of the same value, so the members are removed before. */
    private Document setTypes(Channel channel, String db, Document query, Document statement) {
        Document members = (Document) ((Document) statement.get("u")).get("$set");
        Document removal = new Document("q", statement.get("q")).append("u", new Document("$unset", members));
        Document removed = super.handleCommand(channel, db, "update", query.append("updates", List.of(removal)));
        if (number(removed, "n") == 0) {
            return removed;
        }
        Document byId = new Document("_id", ((Document) statement.get("q")).get("_id"));
        return super.handleCommand(channel, db, "update",
            query.append("updates", List.of(statement.clone().append("q", byId))));
    }

    private static Document withLastErrorObject(Document query, Document reply) {
        if (!reply.containsKey("lastErrorObject")) {
            Document value = (Document) reply.get("value");
            if (Boolean.TRUE.equals(query.get("remove"))) {
                reply.put("lastErrorObject", new Document("n", value == null ? 0 : 1));
            } else {
                boolean upsert = Boolean.TRUE.equals(query.get("upsert"));
                Document last = new Document("n", upsert ? 1 : 0).append("updatedExisting", false);
                if (upsert && value != null) { // the library returns the new _id only with the new document
                    last.append("upserted", value.get("_id"));
                }
                reply.put("lastErrorObject", last);
            }
        }
        return reply;
    }

    // Errors

    private Document failure(MongoServerException e) {
        Document reply = new Document("ok", 0.0).append("errmsg", e.getMessageWithoutErrorCode());
        if (e instanceof MongoServerError) {
            reply.append("code", ((MongoServerError) e).getCode());
            reply.putIfNotNull("codeName", ((MongoServerError) e).getCodeName());
        }
        return describeDuplicateKey(reply);
    }

    /** Adds keyPattern and keyValue, which the library's replies lack. They are stored by the message of the error. */
    private Document describeDuplicateKey(Document error) {
        String message = (String) error.get("errmsg");
        int start = message.indexOf("E11000");
        if (start >= 0) {
            error.putAll(duplicates.getOrDefault(message.substring(start), new Document()));
        }
        return error;
    }

    void rememberDuplicate(String message, Document keyPattern, Document keyValue) {
        duplicates.put(message, new Document("keyPattern", keyPattern).append("keyValue", keyValue));
    }

    // Indexes and databases

    @Override
    protected MongoDatabase openOrCreateDatabase(String name) {
        return new H2Database(name, getMvStore(), getCursorRegistry()) {
            @Override
            protected Index<Object> openOrCreateUniqueIndex(String collection, String index, List<IndexKey> keys, boolean sparse) {
                return new UniqueIndex(getMvStore().openMap(indexMap(name, collection, index)), index, keys, sparse,
                    ReplicaSetBackend.this);
            }

            @Override
            protected MongoCollection<Object> openOrCreateCollection(String collection, CollectionOptions options) {
                String fullName = name + "." + collection;
                return new OrderedCollection(this, collection, options, getMvStore().openMap("databases." + fullName),
                    getMvStore().openMap("meta." + fullName), getCursorRegistry());
            }
        };
    }

    /** The name under which H2Database drops an index. */
    private static String indexMap(String db, String collection, Object index) {
        return db + "." + collection + "._index_" + index;
    }

    private Document findIndex(String db, Document query) {
        return indexes(db, query).findFirst().orElse(null);
    }

    private Stream<Document> indexes(String db, Document query) {
        MongoCollection<?> indexes = resolveDatabase(db).resolveCollection("system.indexes", false);
        return indexes == null ? Stream.empty() : indexes.handleQueryAsStream(query);
    }

    /** The library compares only sparse with an index of that name, and trusts the rest of a failed build. */
    private Document createIndexes(Channel channel, String db, Document query) {
        String collection = (String) query.get("createIndexes");
        Document ns = new Document("ns", db + "." + collection);
        List<Document> present = indexes(db, ns).toList();
        List<Document> missing = new ArrayList<>();
        for (Object entry : list(query.get("indexes"))) {
            Document index = (Document) entry;
            for (String option : index.keySet()) {
                if (!KNOWN_INDEX_OPTIONS.contains(option)) {
                    throw notSupported("index option " + option);
                }
            }
            if (index.containsKey("partialFilterExpression") && Boolean.TRUE.equals(index.get("unique"))) {
                throw notSupported("a partial unique index"); // others are stored, and not used
            }
            if (!index.get("key").toString().matches("\\{(\"[^\"]+\" : -?1(\\.0)?(, )?)+\\}")) {
                throw notSupported("index key " + index.get("key"));
            }
            Document sameName = present.stream().filter(one -> one.get("name").equals(index.get("name"))).findFirst()
                .orElse(null);
            Document alike = present.stream().filter(one -> sameSignature(one, index)).findFirst().orElse(null);
            if (sameName != null && !sameSignature(sameName, index)) {
                throw new MongoServerError(86, "IndexKeySpecsConflict", "An existing index has the same name as the "
                    + "requested index. Requested index: " + index + ", existing index: " + sameName);
            }
            if (index.get("key").toString().startsWith("{\"_id\" ") && ((Document) index.get("key")).size() == 1) {
                continue; // there from the start
            }
            if (sameName != null && !sameOptions(sameName, index)) {
                throw new MongoServerError(85, "IndexOptionsConflict", "An equivalent index already exists with the same "
                    + "name but different options. Requested index: " + index + ", existing index: " + sameName);
            }
            if (sameName == null && alike != null) {
                throw new MongoServerError(85, "IndexOptionsConflict",
                    "Index already exists with a different name: " + alike.get("name"));
            }
            if (sameName == null) {
                missing.add(index);
            }
        }
        query.put("indexes", missing);
        try {
            return super.handleCommand(channel, db, "createIndexes", query);
        } catch (MongoServerException e) {
            for (Document index : missing) {
                if (findIndex(db, ns.clone().append("name", index.get("name"))) == null) {
                    getMvStore().removeMap(indexMap(db, collection, index.get("name")));
                }
            }
            throw e;
        }
    }

    /** Returns whether two indexes of a collection are equivalent since 5.0, apart from their names (SERVER-47657). */
    private static boolean sameSignature(Document one, Document other) {
        return one.get("key").toString().equals(other.get("key").toString())
            && Boolean.TRUE.equals(one.get("unique")) == Boolean.TRUE.equals(other.get("unique"))
            && Boolean.TRUE.equals(one.get("sparse")) == Boolean.TRUE.equals(other.get("sparse"))
            && Objects.equals(one.get("partialFilterExpression"), other.get("partialFilterExpression"));
    }

    private static boolean sameOptions(Document one, Document other) {
        return Objects.equals(number(one.get("expireAfterSeconds")), number(other.get("expireAfterSeconds")));
    }

    private static Document filtered(Document query, Document reply) {
        Document filter = (Document) query.getOrDefault("filter", new Document());
        list(((Document) reply.get("cursor")).get("firstBatch"))
            .removeIf(entry -> !new DefaultQueryMatcher().matches((Document) entry, filter));
        return reply;
    }

    /** By name, the library drops the indexes of that name in every collection; by key, it knows only one. */
    private Document dropIndexes(Channel channel, String db, Document query) {
        if (!(query.get("index") instanceof String) || "*".equals(query.get("index"))) {
            throw notSupported("dropIndexes of " + query.get("index"));
        }
        String collection = (String) query.get("dropIndexes");
        Document search = new Document("ns", db + "." + collection).append("name", query.get("index"));
        if (findIndex(db, search) == null) {
            throw new MongoServerError(27, "IndexNotFound", "index not found with name [" + query.get("index") + "]");
        }
        resolveDatabase(db).resolveCollection(collection, true).dropIndex((String) query.get("index"));
        resolveDatabase(db).resolveCollection("system.indexes", true).deleteDocuments(search, 1);
        return ok();
    }

    /** The library removes every database whose name starts with this one's. */
    private Document dropDatabase(Channel channel, String db) {
        Document cursor = (Document) super.handleCommand(channel, db, "listCollections",
            new Document("listCollections", 1)).get("cursor");
        for (Object collection : list(cursor.get("firstBatch"))) {
            super.handleCommand(channel, db, "drop", new Document("drop", ((Document) collection).get("name")));
        }
        return ok().append("dropped", db);
    }

    static List<?> list(Object value) {
        return value == null ? List.of() : (List<?>) value;
    }

    static Document ok() {
        return new Document("ok", 1.0);
    }
}

/**
 * The fail point failCommand of mongod, which needs enableTestCommands there:
 * https://github.com/mongodb/mongo/wiki/The-%22failCommand%22-fail-point. Only tests set it.
 */
class FailPoint {

    private static final Set<String> KNOWN = Set.of("failCommands", "errorCode", "closeConnection", "blockConnection",
        "blockTimeMS", "writeConcernError", "namespace");

    /** The errors that mongod labels in responses to retryable writes. */
    private static final Set<Integer> RETRYABLE =
        Set.of(6, 7, 89, 91, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436);

    private Document data = new Document();
    private long skip;
    private long times; // 0: off

    synchronized Document configure(Document query) {
        Document wanted = (Document) query.getOrDefault("data", new Document());
        if (!"failCommand".equals(query.get("configureFailPoint")) || !KNOWN.containsAll(wanted.keySet())) {
            throw new MongoServerError(238, "NotImplemented", "this fail point is not supported by this server");
        }
        data = wanted;
        Object mode = query.get("mode");
        skip = mode instanceof Document ? ((Number) ((Document) mode).getOrDefault("skip", 0)).longValue() : 0;
        times = "off".equals(mode) ? 0
            : mode instanceof Document && ((Document) mode).containsKey("times")
                ? ((Number) ((Document) mode).get("times")).longValue()
                : Long.MAX_VALUE;
        return ReplicaSetBackend.ok();
    }

    /** Returns the fault of a command, or null. */
    synchronized Document take(String db, String command, Document query) {
        String namespace = (String) data.getOrDefault("namespace", db + "." + query.get(command));
        boolean fits = times > 0 && ReplicaSetBackend.list(data.get("failCommands")).contains(command)
            && namespace.equals(db + "." + query.get(command));
        if (!fits || skip-- > 0) {
            return null;
        }
        times--;
        return data;
    }

    static void block(Document fault) {
        if (!Boolean.TRUE.equals(fault.get("blockConnection"))) {
            return;
        }
        try {
            Thread.sleep(((Number) fault.get("blockTimeMS")).longValue());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static Document error(int code, String name, Document query) {
        return labelled(code, query, new Document("ok", 0.0).append("code", code).append("codeName", name)
            .append("errmsg", name));
    }

    static Document labelled(int code, Document query, Document reply) {
        return ReplicaSetBackend.isRetryable(query) && RETRYABLE.contains(code)
            ? reply.append("errorLabels", List.of("RetryableWriteError"))
            : reply;
    }
}

/**
 * The library compares strings by UTF-16 units, MongoDB by UTF-8 bytes, which is the order of code points. With the
 * surrogates moved above all other units both orders are the same, so every string is stored that way.
 */
enum ByteOrder {
    ENCODED(0xe000, -0x800, 0x2000),
    DECODED(0xf800, -0x2000, 0x800);

    private static final char FIRST_MOVED = 0xd800;

    private final int upper;
    private final int byUpper;
    private final int byLower;

    /** Moves units from {@code upper} on by {@code byUpper}, and those from U+D800 to there by {@code byLower}. */
    ByteOrder(int upper, int byUpper, int byLower) {
        this.upper = upper;
        this.byUpper = byUpper;
        this.byLower = byLower;
    }

    /** Returns a deep copy with all strings moved. Member names are ASCII. */
    Object in(Object value) {
        if (value instanceof Document) {
            Document copy = new Document();
            ((Document) value).forEach((name, member) -> copy.put(name, in(member)));
            return copy;
        }
        if (value instanceof Collection) {
            List<Object> copy = new ArrayList<>();
            ((Collection<?>) value).forEach(element -> copy.add(in(element)));
            return copy;
        }
        return value instanceof String ? in((String) value) : value;
    }

    private String in(String text) {
        if (text.chars().allMatch(unit -> unit < FIRST_MOVED)) {
            return text;
        }
        StringBuilder moved = new StringBuilder(text.length());
        text.chars().forEach(unit ->
            moved.append((char) (unit < FIRST_MOVED ? unit : unit + (unit < upper ? byLower : byUpper))));
        return moved.toString();
    }
}

/** Reads a list by id from a place on in the order of the ids. The library reads and sorts all documents. */
class OrderedCollection extends H2Collection {

    private static final Document BY_ID = new Document("_id", 1);

    private final MVMap<Object, Document> documents;

    OrderedCollection(MongoDatabase database, String name, CollectionOptions options, MVMap<Object, Document> documents,
            MVMap<String, Object> meta, CursorRegistry cursors) {
        super(database, name, options, documents, meta, cursors);
        this.documents = documents;
    }

    @Override
    protected QueryResult matchDocuments(Document query, Document orderBy, int skip, int limit, int batchSize,
            Document fields) {
        // The store orders numbers of different types by their types.
        boolean isOrdered = documents.firstKey() instanceof Integer && documents.lastKey() instanceof Integer;
        if (limit == 0 || !isOrdered || !BY_ID.equals(orderBy)) {
            return super.matchDocuments(query, orderBy, skip, limit, batchSize, fields);
        }
        var cursor = documents.cursor(first(query.get("_id")));
        var matcher = new DefaultQueryMatcher();
        List<Document> found = new ArrayList<>();
        while (cursor.hasNext() && found.size() < skip + limit) {
            cursor.next();
            if (matcher.matches(cursor.getValue(), query)) {
                found.add(cursor.getValue());
            }
        }
        return matchDocumentsFromStream(found.stream(), query, orderBy, skip, limit, batchSize, fields);
    }

    /** Returns the least id that a condition may allow. */
    private static Object first(Object condition) {
        Object bound = condition instanceof Document range ? range.getOrDefault("$gte", range.get("$gt")) : null;
        return bound instanceof Number number ? (int) Math.max(Integer.MIN_VALUE, number.longValue()) : null;
    }
}

/**
 * A unique index. If sparse, that of the library ignores the keys of a path through an array, and treats null as
 * missing.
 */
class UniqueIndex extends AbstractUniqueIndex<Object> {

    private final MVMap<KeyValue, Object> positions;
    private final ReplicaSetBackend backend;

    UniqueIndex(MVMap<KeyValue, Object> positions, String name, List<IndexKey> keys, boolean sparse, ReplicaSetBackend backend) {
        super(name, keys, sparse);
        this.positions = positions;
        this.backend = backend;
    }

    private Set<KeyValue> keysOf(Document document) {
        getKeyValues(document); // refuses parallel arrays
        List<Object> values = new ArrayList<>();
        int elements = 1;
        for (String key : keys()) {
            Object value = Utils.getSubdocumentValueCollectionAware(document, key);
            values.add(value);
            elements = Math.max(elements, value instanceof Collection ? ((Collection<?>) value).size() : 1);
        }
        Set<KeyValue> result = new LinkedHashSet<>();
        for (int i = 0; i < elements; i++) {
            List<Object> tuple = new ArrayList<>();
            for (Object value : values) {
                tuple.add(value instanceof Collection ? element((Collection<?>) value, i) : value);
            }
            if (!isSparse() || !tuple.stream().allMatch(Missing.class::isInstance)) {
                result.add(new KeyValue(tuple));
            }
        }
        return result;
    }

    private static Object element(Collection<?> values, int i) {
        return i < values.size() ? new ArrayList<>(values).get(i) : Missing.getInstance();
    }

    private void check(Document document, Object owner, MongoCollection<Object> collection) {
        for (KeyValue key : keysOf(document)) {
            Object holder = getPosition(key.normalized());
            if (holder != null && !holder.equals(owner)) {
                DuplicateKeyError error = new DuplicateKeyError(this, collection, getKeys(), key);
                Document pattern = new Document();
                Document value = new Document();
                for (IndexKey part : getKeys()) {
                    Object found = key.get(pattern.size());
                    value.put(part.getKey(), found instanceof Missing ? null : found);
                    pattern.put(part.getKey(), part.isAscending() ? 1 : -1);
                }
                backend.rememberDuplicate(error.getMessageWithoutErrorCode(), pattern, value);
                throw error;
            }
        }
    }

    @Override
    public void checkAdd(Document document, MongoCollection<Object> collection) {
        check(document, null, collection);
    }

    @Override
    public void checkUpdate(Document before, Document after, MongoCollection<Object> collection) {
        check(after, getPosition(before), collection);
    }

    @Override
    public void add(Document document, Object position, MongoCollection<Object> collection) {
        checkAdd(document, collection); // an index that is being built finds its first duplicate here
        keysOf(document).forEach(key -> putKeyPosition(key.normalized(), position));
    }

    /** The library's index serves a query of its own fields alone. The collection filters what it finds by the others. */
    @Override
    public synchronized boolean canHandle(Document query) {
        return super.canHandle(ownPart(query));
    }

    @Override
    public synchronized Iterable<Object> getPositions(Document query) {
        return super.getPositions(ownPart(query));
    }

    private Document ownPart(Document query) {
        Document part = query.clone();
        part.keySet().retainAll(keys());
        return part;
    }

    @Override
    public Object remove(Document document) {
        Object position = getPosition(document);
        keysOf(document).forEach(key -> removeDocument(key.normalized()));
        return position;
    }

    @Override
    public void updateInPlace(Document before, Document after, Object position, MongoCollection<Object> collection) {
        if (!keysOf(before).equals(keysOf(after))) {
            remove(before);
            add(after, position, collection);
        }
    }

    @Override
    public Object getPosition(Document document) {
        return keysOf(document).stream().map(key -> getPosition(key.normalized()))
            .filter(Objects::nonNull).findFirst().orElse(null);
    }

    @Override protected Object getPosition(KeyValue key) { return positions.get(key); }
    @Override protected Object removeDocument(KeyValue key) { return positions.remove(key); }
    @Override protected Iterable<Map.Entry<KeyValue, Object>> getIterable() { return positions.entrySet(); }
    @Override public long getCount() { return positions.sizeAsLong(); }
    @Override public long getDataSize() { return getCount(); }

    @Override
    protected boolean putKeyPosition(KeyValue key, Object position) {
        return positions.putIfAbsent(key, Missing.ofNullable(position)) == null;
    }
}
