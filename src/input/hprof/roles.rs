//! The roles of the classes of a JVM and of Android.
//!
//! Sources: OpenJDK 8 to 25 and the standard libraries of Kotlin and Scala. Collections are known
//! by their fields as well, see `analysis/collections`.

use crate::model::roles::{Role, Roles};
use Role::{
    Closure, Collection, Collided, Finalizer, Inside, Runtime, Task, Thread, ThreadLocal, Timer,
};

pub(super) const ROLES: Roles = &[
    ("java.lang.ThreadLocal$ThreadLocalMap$Entry", ThreadLocal),
    ("java.lang.ThreadLocal$*", Inside),
    ("java.lang.Thread", Thread),
    ("java.lang.VirtualThread", Thread),
    ("java.lang.ThreadBuilders$BoundVirtualThread", Thread),
    ("java.util.concurrent.ForkJoinWorkerThread", Thread),
    ("java.lang.VirtualThread$*", Inside),
    ("java.lang.Thread$*", Inside),
    ("jdk.internal.vm.*", Inside),
    ("java.lang.ref.Finalizer", Finalizer),
    ("java.lang.ref.*", Inside),
    ("*$$Lambda*", Closure),
    ("java.util.TimerTask", Timer),
    ("java.util.concurrent.ScheduledThreadPoolExecutor$ScheduledFutureTask", Timer),
    ("java.util.concurrent.FutureTask", Task),
    ("java.util.concurrent.CompletableFuture", Task),
    ("java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue", Collection("queue")),
    ("java.util.concurrent.DelayQueue", Collection("queue")),
    ("java.util.concurrent.LinkedTransferQueue", Collection("queue")),
    ("java.util.HashMap$TreeNode", Collided),
    ("java.util.concurrent.ConcurrentHashMap$TreeNode", Collided),
    ("java.util.concurrent.ConcurrentHashMap$TreeBin", Collided),
    ("java.util.*Node", Inside),
    ("java.util.*$*Entry", Inside),
    ("java.util.*$*Index", Inside),
    ("java.util.*$Itr", Inside),
    ("java.util.concurrent.Executors$RunnableAdapter", Inside),
    ("java.util.concurrent.CompletableFuture$*", Inside),
    ("scala.collection.*Node", Inside),
    ("scala.collection.immutable.$colon$colon", Inside),
    ("java.*", Runtime),
    ("javax.*", Runtime),
    ("jdk.*", Runtime),
    ("sun.*", Runtime),
    ("com.sun.*", Runtime),
    ("kotlin.*", Runtime),
    ("scala.*", Runtime),
    ("android.*", Runtime),
    ("dalvik.*", Runtime),
    ("libcore.*", Runtime),
];
