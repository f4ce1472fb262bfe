/* ringfold gen: the folder that it writes into. */
#ifndef RF_TOOLS_GEN_FOLDER_H
#define RF_TOOLS_GEN_FOLDER_H

/*
 * Makes the folder where there is none. In one that an earlier run has filled, takes that run's
 * files away and leaves all others; refuses one that has files and none of ours. 0, or -1 with a
 * message on stderr.
 */
int gen_folder_ready(const char *dir);

#endif
